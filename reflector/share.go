package reflector

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
	"github.com/tidemark-k8s/tidemark/shard"
)

// shareFilter drops the objects that are not in a reflector's share ([Options].Share).
type shareFilter struct {
	items    wire.Share
	selector string // of a request; "" for the whole ring
	// unmixed is one more than dropped() was at the start of the last full state without foreign
	// objects. It is 0 before the first such state.
	unmixed atomic.Uint64
}

// newShareFilter returns the filter of a share, nil for the share of all objects.
func newShareFilter(set shard.Set) *shareFilter {
	if set.Field() == 0 {
		return nil
	}
	return &shareFilter{items: wire.Share{Set: set}, selector: set.Selector()}
}

// dropped returns the number of foreign objects and events that were dropped.
func (s *shareFilter) dropped() uint64 { return s.items.Dropped.Load() }

// status is [keeper.Reflector.Foreign].
func (s *shareFilter) status() (dropped uint64, server string) {
	if s == nil {
		return 0, ""
	}
	switch dropped = s.dropped(); {
	case s.unmixed.Load() == dropped+1:
		server = "filters"
	case dropped > 0:
		server = "does not filter"
	}
	return dropped, server
}

// ofItems returns what a reception has to know, or nil.
func (s *shareFilter) ofItems() *wire.Share {
	if s == nil {
		return nil
	}
	return &s.items
}

// dropObject drops an object that a client has decoded, if it is foreign.
func (s *shareFilter) dropObject(obj any) (foreign bool) {
	m := object.Meta(obj)
	return m != nil && s.items.Drop(m.GetNamespace(), m.GetUID())
}

// asksForShare sends a request with the selector of the share. If the server refuses the request as
// invalid, asksForShare repeats it once without the selector. If that succeeds, the selector was
// the reason, and later requests omit it for a while. All pages of a list have the selector of the
// first: a continue token does not contain the selector, so the server would answer wrongly with
// another one.
func (l *loop) asksForShare(r request, ask func() (input, error)) (input, error) {
	s := l.share
	if s == nil || r.token != "" {
		return ask()
	}
	l.selector, l.foreign = s.selector, s.dropped()
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
	if l.share == nil {
		return 0
	}
	return int(l.share.dropped() - l.foreign) //nolint:gosec // a number of objects
}

// noteFilter records whether the server has filtered a full state.
func (l *loop) noteFilter() {
	if s := l.share; s != nil && l.objects > 0 && l.selector != "" && l.foreignObjects() == 0 {
		s.unmixed.Store(l.foreign + 1)
	}
}

// drops drops a change if its object is foreign. If not, the change replaces a Progress at the end
// of the batch, because its version is newer.
func (l *loop) drops(a *wire.Received) bool {
	id := a.ID
	switch m := object.Meta(a.Object); {
	case m != nil:
		id.Key, id.UID, id.Version = object.Key(m), string(m.GetUID()), m.GetResourceVersion()
	case !a.ReadHere, a.Unexpected != nil: // skipped and reported
		return false
	}
	if l.share.items.Drop(id.Key.Namespace, types.UID(id.UID)) {
		l.passedBy(id.Version)
		return true
	}
	if l.endsWithProgress() {
		l.dropDelta()
	}
	return false
}

// passedBy records foreign events. The version is that of the last one, or "" if it proves no
// progress, as at the beginning of a watch without a version (B63). The Progress goes to the end of
// the batch.
func (l *loop) passedBy(version string) {
	switch w := l.conn; {
	case w == nil: // of a list
	case w.initial, w.unordered, version == "":
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
