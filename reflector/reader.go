package reflector

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// reader describes a reflector to an [OwnWrites]: it has the objects that the reflector reads, and
// the sink for the answers to writes of these objects. The reflector puts it into the context of
// its lists and watches.
type reader struct {
	sink   keeper.Sink
	kind   *wire.Decoder // not the reflector's, because any goroutine may write
	deltas deltaMaker
	taker  wire.Taker   // nil if the sink does not pack its objects
	share  *shareFilter // what the reflector reads; nil: everything

	// Set by the first request, before it is linked:
	origin origin
	target ownwrites.Target

	mu        sync.Mutex
	state     readerState
	links     []*OwnWrites
	selection ownwrites.Selection
}

// readerState is the state of a reader. It never goes back.
type readerState uint8

const (
	unlinked readerState = iota // no request has passed through an OwnWrites
	linked
	ended // the reflector ended, or its requests went to different servers
)

// origin is the server of a request, and the impersonated user.
type origin struct{ scheme, host, prefix, user string }

func originOf(t ownwrites.Target, r *http.Request) origin {
	u := r.URL
	host := net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), defaultPorts[u.Scheme]))
	return origin{u.Scheme, host, t.Prefix, impersonated(r.Header)}
}

// defaultPorts maps schemes to the ports of URLs that have none.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// impersonated returns the impersonated user, groups and so on of a request in one string.
func impersonated(h http.Header) string {
	var as []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if strings.HasPrefix(name, "Impersonate-") {
			as = append(append(as, name), slices.Sorted(slices.Values(h[name]))...)
		}
	}
	return strings.Join(as, "\n")
}

// asks links the reader to the OwnWrites that its request passes through.
func (r *reader) asks(own *OwnWrites, request *http.Request) {
	t, ok := ownwrites.ParseTarget(request.URL.Path)
	if !ok || t.Name != "" {
		return
	}
	at, s := originOf(t, request), ownwrites.ReadSelection(request.URL.Query(), r.shardSelector())
	r.mu.Lock()
	defer r.mu.Unlock()

	first := r.state == unlinked
	switch {
	case r.state == ended:
		return
	case first:
		r.state, r.origin, r.target, r.selection = linked, at, t, s
	case r.origin != at || r.target != t:
		r.unlink()
		r.sink.Unlinked()
		return
	}
	selected := r.selection.Selects()
	r.selection = r.selection.And(s)
	if selects := r.selection.Selects(); first || selects != selected {
		r.sink.Linked(selects)
	}
	if !slices.Contains(r.links, own) {
		r.links = append(r.links, own)
		own.change(t.Kin(), func(all []*reader) []*reader { return append(all, r) })
	}
}

// shardSelector returns the selector of the reflector's share.
func (r *reader) shardSelector() string {
	if r.share == nil {
		return ""
	}
	return r.share.selector
}

// End unlinks the reader permanently. The reader may be nil.
func (r *reader) End() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	r.unlink()
}

// historyWentBack forgets which versions the program has made. The reader may be nil.
func (r *reader) historyWentBack() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, own := range r.links {
		own.made.Forget()
	}
}

// unlink is End with the lock held.
func (r *reader) unlink() {
	r.state = ended
	for _, own := range r.links {
		own.change(r.target.Kin(), func(all []*reader) []*reader {
			return slices.DeleteFunc(all, func(other *reader) bool { return other == r })
		})
	}
	r.links = nil
}

// covers reports whether a write may be in the reader's namespace. A write to a collection may
// affect any namespace.
func (r *reader) covers(t ownwrites.Target) bool {
	return r.target.Namespace == "" || t.Namespace == "" || r.target.Namespace == t.Namespace
}

// decodes reports whether the sink gets the object of an answer. It takes no object outside its
// share.
func (r *reader) decodes(w ownwrites.Write, a ownwrites.Result) bool {
	return r.takes(w, a.Form) && (r.share == nil || r.share.items.Set.Has(a.Key.Namespace, types.UID(a.UID)))
}

// takes reports whether the reader's sink may store the object of an answer.
func (r *reader) takes(w ownwrites.Write, f ownwrites.Form) bool {
	switch f {
	case ownwrites.Full:
		return w.Group == r.target.Group && w.Version == r.target.Version
	case ownwrites.Metadata:
		return r.kind.Type == metadataType
	}
	return false
}

// scope reports whether the reader reads the object of an answer.
func (r *reader) scope(w ownwrites.Write, a ownwrites.Result) ownwrites.Scope {
	switch {
	case a.Kind == ownwrites.Doubt, a.Kind == ownwrites.Undated, a.Kind == ownwrites.Object && !r.takes(w, a.Form):
		return ownwrites.Unknown
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.selection.Scope(a.Key, a.Labels)
}

// answer returns what the reader learns from a result, without the object.
func (r *reader) answer(w ownwrites.Write, result ownwrites.Result, before ownwrites.Before) ownwrites.Answer {
	return ownwrites.Answer{Kind: result.Kind, Scope: r.scope(w, result), Identity: result.Identity, Before: before, Counted: new(atomic.Bool)}
}

// tell passes on an answer with its object. If the object cannot be decoded, or the sink fails, the
// result is doubtful.
func (r *reader) tell(w ownwrites.Write, result ownwrites.Result, a ownwrites.Answer) {
	var o wire.Outcome[struct{}]
	defer func() { // even if a callback ends the goroutine
		if o.Err != nil {
			r.sink.Missed(ownwrites.Answer{Identity: object.Identity{Key: a.Key}, Before: a.Before, Counted: a.Counted})
		}
	}()
	o.From(func() (struct{}, error) {
		if a.Scope == ownwrites.Inside && r.decodes(w, result) {
			a.Object = r.decode(result)
		}
		if a.Kind == ownwrites.Object && a.Object == nil && a.Scope == ownwrites.Inside {
			a.Scope = ownwrites.Unknown
		}
		r.sink.Answered(a)
		return struct{}{}, nil
	})
}

// decode decodes the object of an answer as it would decode a watch's, or returns nil. A
// metadata-only sink packs only the metadata.
func (r *reader) decode(a ownwrites.Result) any {
	e := a.Encoded
	obj, err := r.kind.DecodeAnswer(e.Data, e.Protobuf, e.TypeMeta)
	d := deltafifo.Delta{}
	if err != nil || r.deltas.fromWatch(&d, deltafifo.Modified, obj) != nil {
		return nil
	}
	if r.kind.Type == metadataType && a.Form != ownwrites.Metadata {
		return obj
	}
	return wire.TakeAnswer(r.taker, obj, e.Data, e.Protobuf)
}
