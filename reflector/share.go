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

// Share is the part of a source's objects that a reflector reads ([Options].Share). The reflector asks the
// server for it, and drops foreign objects whatever the server does, before they are decoded if it decodes the
// answers itself. A Share belongs to one reflector. All methods may be called from any goroutine.
type Share struct {
	items    wire.Share
	selector string // of a request; "" for the whole ring
	// unmixed is one more than the number of foreign objects before the last full state without one, 0 before
	// the first.
	unmixed atomic.Uint64
}

// NewShare returns the Share of a set. [Reflector.Run] refuses one without a field.
func NewShare(set shard.Set) *Share {
	return &Share{items: wire.Share{Set: set}, selector: set.Selector()}
}

// Set returns the set of the objects that are read.
func (s *Share) Set() shard.Set { return s.items.Set }

// Foreign returns the number of foreign objects and events that were dropped here.
func (s *Share) Foreign() uint64 { return s.items.Dropped.Load() }

// Server says whether the server leaves out foreign objects. It "filters" if the last full state had objects, none of
// them foreign, and nothing foreign has come since. It "does not filter" if something foreign has come since the last
// such state. Otherwise the word is "". It is for people: nothing depends on it.
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

// ofItems returns what a reception has to know, or nil.
func (s *Share) ofItems() *wire.Share {
	if s == nil {
		return nil
	}
	return &s.items
}

// dropObject drops an object that a client has decoded, if it is foreign.
func (s *Share) dropObject(obj any) (foreign bool) {
	m := object.Meta(obj)
	return m != nil && s.items.Drop(m.GetNamespace(), m.GetUID())
}

// asksForShare sends a request with the selector of the share. If the request is refused as invalid, it is
// repeated once without; if that succeeds, the selector was the reason, and is omitted for a while. The later
// pages of a list have the selector of the first: a continue token does not know its selector, and the server
// would answer wrongly with another one.
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

// foreignObjects returns the number of foreign objects that the last full state, or watch, has brought.
func (l *loop) foreignObjects() int {
	if l.o.Share == nil {
		return 0
	}
	return int(l.o.Share.Foreign() - l.foreign) //nolint:gosec // a number of objects
}

// noteFilter notes whether the server has filtered a full state.
func (l *loop) noteFilter() {
	if s := l.o.Share; s != nil && l.objects > 0 && l.selector != "" && l.foreignObjects() == 0 {
		s.unmixed.Store(l.foreign + 1)
	}
}

// drops drops a change whose object is foreign. A change that it keeps replaces the Progress at the end of the
// batch: its version is newer.
func (l *loop) drops(op deltafifo.Op, a *wire.Received) bool {
	id := a.ID
	switch m := object.Meta(a.Object); {
	case m != nil:
		id.Key, id.UID, id.Version = object.Key(m), string(m.GetUID()), m.GetResourceVersion()
	case !a.ReadHere, a.Unexpected != nil: // it is skipped, which is reported
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

// ordered reports whether an Added event has its place in the order of the watch (B63: at the beginning of a
// watch without a version it has not).
func (l *loop) ordered() bool {
	return l.machine.watch.ordered || slices.ContainsFunc(l.batch, func(d deltafifo.Delta) bool { return d.Op != deltafifo.Added })
}

// passedBy notes foreign events, the last of which has a version, or none that proves progress. Progress
// stands at the end of the batch.
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

// next returns the next event of the watch, if there is one. A Progress without own events is held back for a
// moment, so that many foreign events cost the sink little.
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
