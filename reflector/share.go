package reflector

import (
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Share is the part of a source's objects that a reflector reads ([Options].Share). The reflector
// asks the server for the part, and drops foreign objects that the server sends anyway. If it
// decodes the answers itself, it drops them before decoding. A Share belongs to one reflector. Any
// goroutine may call its methods.
type Share struct {
	items    wire.Share
	selector string // of a request; "" for the whole ring
	// unmixed is 0 before the first full state without foreign objects. Then it is one more than
	// the number of foreign objects before the last such state.
	unmixed atomic.Uint64
}

// NewShare returns the Share of a set. [Reflector.Run] refuses a set without a field.
func NewShare(set shard.Set) *Share {
	return &Share{items: wire.Share{Set: set}, selector: set.Selector()}
}

// Set returns the set of the objects that the reflector reads.
func (s *Share) Set() shard.Set { return s.items.Set }

// Foreign returns the number of foreign objects and events that the reflector has dropped.
func (s *Share) Foreign() uint64 { return s.items.Dropped.Load() }

// Server says whether the server leaves out foreign objects, for people. It returns "filters" if
// the last full state had objects, all of them in the share, and nothing foreign has arrived since.
// It returns "does not filter" if something foreign has arrived since the last such state, and
// otherwise "".
func (s *Share) Server() string {
	switch foreign := s.Foreign(); {
	case s.unmixed.Load() == foreign+1:
		return "filters"
	case foreign > 0:
		return "does not filter"
	default:
		return ""
	}
}

// ofItems returns the part that a reception needs, or nil.
func (s *Share) ofItems() *wire.Share {
	if s == nil {
		return nil
	}
	return &s.items
}

// dropObject drops an object that a client has decoded if it is foreign.
func (s *Share) dropObject(obj any) (foreign bool) {
	m := object.Meta(obj)
	return m != nil && s.items.Drop(m.GetNamespace(), m.GetUID())
}

// asksForShare sends a request with the selector of the share. If the server refuses the request as
// invalid, asksForShare repeats it once without the selector. If that succeeds, the selector was
// the reason, and later requests omit it for a while. All pages of a list have the selector of the
// first: a continue token does not contain the selector, so the server would answer wrongly with
// another one.
func (l *loop) asksForShare(r request, ask func() (input, error)) (input, error) {
	s := l.o.Share
	if s == nil || r.token != "" {
		return ask()
	}
	l.selector, l.foreign = s.selector, s.Foreign()
	if since := l.times.selectorRefusedAt; !since.IsZero() && !elapsed(since, selectorOmittedFor) {
		l.selector = ""
	}
	in, err := ask()
	if l.selector == "" || in.kind != inFailed || !isInvalid(err) {
		return in, err
	}
	l.selector = ""
	refused := err
	if in, err = ask(); in.kind < inClosed {
		l.times.selectorRefusedAt = time.Now()
		s.unmixed.Store(0)
		l.tell(SelectorRefused{Reason: shortText(refused), Retry: selectorOmittedFor})
	}
	return in, err
}

// foreignObjects returns the number of foreign objects in the last full state or watch.
func (l *loop) foreignObjects() int {
	if l.o.Share == nil {
		return 0
	}
	return int(l.o.Share.Foreign() - l.foreign) //nolint:gosec // a number of objects
}

// noteFilter records whether the server has filtered a full state.
func (l *loop) noteFilter() {
	if s := l.o.Share; s != nil && l.objects > 0 && l.selector != "" && l.foreignObjects() == 0 {
		s.unmixed.Store(l.foreign + 1)
	}
}

// drops drops a change if its object is foreign. If not, the change replaces a Progress at the end
// of the batch, because its version is newer.
func (l *loop) drops(op deltafifo.Op, a *wire.Received) bool {
	id := a.ID
	switch m := object.Meta(a.Object); {
	case m != nil:
		id.Key, id.UID, id.Version = object.Key(m), string(m.GetUID()), m.GetResourceVersion()
	case !a.ReadHere, a.Unexpected != nil: // skipped and reported
		return false
	}
	if l.o.Share.items.Drop(id.Key.Namespace, types.UID(id.UID)) {
		if op == deltafifo.Added && !l.ordered() {
			id.Version = ""
		}
		l.passedBy(id.Version)
		return true
	}
	if l.endsWithProgress() {
		l.dropDelta()
	}
	return false
}

// ordered reports whether an Added event has its place in the order of the watch. At the beginning
// of a watch without a version, it does not (B63).
func (l *loop) ordered() bool {
	return l.machine.watch.ordered || slices.ContainsFunc(l.batch, func(d deltafifo.Delta) bool { return d.Op != deltafifo.Added })
}

// passedBy records foreign events. The version is that of the last one, or "" if it proves no
// progress. The Progress goes to the end of the batch.
func (l *loop) passedBy(version string) {
	switch w := l.conn; {
	case w == nil: // of a list
	case w.initial, version == "":
		w.heard, w.quiet = true, 0
	default:
		if !l.endsWithProgress() {
			l.addDelta().Op = deltafifo.Progress
		}
		l.batch[len(l.batch)-1].Version = version
	}
}

func (l *loop) endsWithProgress() bool {
	n := len(l.batch)
	return n > 0 && l.batch[n-1].Op == deltafifo.Progress
}

// next returns the next event of the watch, if there is one. It briefly holds back a Progress that
// is alone in its batch, so that many foreign events cost the sink little.
func (l *loop) next(w *watchConn, wait bool) (wire.Received, bool) {
	a, ok := w.next(wait)
	if ok || len(l.batch) != 1 || !l.endsWithProgress() {
		return a, ok
	}
	if hold := progressEvery - time.Since(l.times.progressed); hold > 0 {
		return w.linger(hold)
	}
	return a, false
}
