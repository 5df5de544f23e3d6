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

// subscriber gets the answers to the program's writes from an [OwnWrites], and passes them to the sink of
// a reflector, if the reflector reads the objects. The reflector puts it into the context of its lists
// and watches.
type subscriber struct {
	sink    keeper.Sink
	decoder *wire.Decoder // not the reflector's, because any goroutine may write
	deltas  deltaMaker
	taker   wire.Taker   // nil if the sink does not pack its objects
	share   *shareFilter // the share that the reflector reads; nil if it reads everything

	// Set by the first request, before it is linked:
	origin origin
	target ownwrites.Target

	mu        sync.Mutex
	state     subscriberState
	links     []*OwnWrites
	selection ownwrites.Selection
}

// subscriberState is the state of a subscriber. It never goes back.
type subscriberState uint8

const (
	unlinked subscriberState = iota // no request has passed through an OwnWrites
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

// asks links the subscriber to the OwnWrites that its request passes through.
func (r *subscriber) asks(own *OwnWrites, request *http.Request) {
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
		own.change(t.Kin(), func(all []*subscriber) []*subscriber { return append(all, r) })
	}
}

// shardSelector returns the selector of the reflector's share.
func (r *subscriber) shardSelector() string {
	if r.share == nil {
		return ""
	}
	return r.share.selector
}

// End unlinks the subscriber permanently. The subscriber may be nil.
func (r *subscriber) End() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	r.unlink()
}

// historyWentBack forgets which versions the program has made. The subscriber may be nil.
func (r *subscriber) historyWentBack() {
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
func (r *subscriber) unlink() {
	r.state = ended
	for _, own := range r.links {
		own.change(r.target.Kin(), func(all []*subscriber) []*subscriber {
			return slices.DeleteFunc(all, func(other *subscriber) bool { return other == r })
		})
	}
	r.links = nil
}

// covers reports whether a write may be in the subscriber's namespace. A write to a collection may
// affect any namespace.
func (r *subscriber) covers(t ownwrites.Target) bool {
	return r.target.Namespace == "" || t.Namespace == "" || r.target.Namespace == t.Namespace
}

// decodes reports whether the sink gets the object of an answer. It does not get objects outside of its
// share.
func (r *subscriber) decodes(w ownwrites.Write, a ownwrites.Result) bool {
	return r.takes(w, a.Form) && (r.share == nil || r.share.items.Set.Has(a.Key.Namespace, types.UID(a.UID)))
}

// takes reports whether the subscriber's sink may store the object of an answer.
func (r *subscriber) takes(w ownwrites.Write, f ownwrites.Form) bool {
	switch f {
	case ownwrites.Full:
		return w.Group == r.target.Group && w.Version == r.target.Version
	case ownwrites.Metadata:
		return r.decoder.Type == metadataType
	}
	return false
}

// scope reports whether the subscriber reads the object of an answer.
func (r *subscriber) scope(w ownwrites.Write, a ownwrites.Result) ownwrites.Scope {
	switch {
	case a.Kind == ownwrites.Doubt, a.Kind == ownwrites.Undated, a.Kind == ownwrites.Object && !r.takes(w, a.Form):
		return ownwrites.Unknown
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.selection.Scope(a.Key, a.Labels)
}

// answer returns what the subscriber learns from a result, without the object.
func (r *subscriber) answer(w ownwrites.Write, result ownwrites.Result, before ownwrites.Before) ownwrites.Answer {
	return ownwrites.Answer{Kind: result.Kind, Scope: r.scope(w, result), Identity: result.Identity, Before: before, Counted: new(atomic.Bool)}
}

// tell passes on an answer with its object. If the object cannot be decoded, or the sink fails, the
// result is doubtful.
func (r *subscriber) tell(w ownwrites.Write, result ownwrites.Result, a ownwrites.Answer) {
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

// decode decodes the object of an answer like that of a watch event. It returns nil if that fails. A
// metadata-only sink packs only the metadata.
func (r *subscriber) decode(a ownwrites.Result) any {
	e := a.Encoded
	obj, err := r.decoder.DecodeAnswer(e.Data, e.Protobuf, e.TypeMeta)
	d := deltafifo.Delta{}
	if err != nil || r.deltas.fromWatch(&d, deltafifo.Modified, obj) != nil {
		return nil
	}
	if r.decoder.Type == metadataType && a.Form != ownwrites.Metadata {
		return obj
	}
	return wire.TakeAnswer(r.taker, obj, e.Data, e.Protobuf)
}
