package engine

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// tally counts the events of the store by kind, and the bookmarks. A write section counts in now, and
// publishes the counts in shown at its end.
type tally struct {
	now   [tallied]uint64
	shown [tallied]atomic.Uint64
}

const (
	bookmarks = eventlog.Kind(0) // stands for the bookmarks in a tally
	tallied   = int(eventlog.Deleted) + 1
)

// count adds n events.
func (t *tally) count(kind eventlog.Kind, n int) { t.now[kind] += uint64(n) } //nolint:gosec // never negative

// show publishes the counts.
func (t *tally) show() {
	for i, n := range t.now {
		if t.shown[i].Load() != n {
			t.shown[i].Store(n)
		}
	}
}

// of returns the published number of the events of a kind.
func (t *tally) of(kind eventlog.Kind) uint64 { return t.shown[kind].Load() }

// events returns the published number of all events, without bookmarks.
func (t *tally) events() uint64 {
	return t.of(eventlog.Added) + t.of(eventlog.Updated) + t.of(eventlog.Deleted)
}
