package informer

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// tally counts the events of the store. A write section counts them in now, and publishes the counts
// in shown at its end.
type tally struct {
	now   [tallied]uint64
	shown [tallied]atomic.Uint64
}

// tallyBookmarks is the index of the bookmarks in a tally; the index of an event is its kind.
const (
	tallyBookmarks = 0
	tallied        = int(eventlog.Deleted) + 1
)

func (t *tally) event(kind eventlog.Kind) { t.now[kind]++ }

// show publishes the counts.
func (t *tally) show() {
	for i, n := range t.now {
		if t.shown[i].Load() != n {
			t.shown[i].Store(n)
		}
	}
}

// events returns the number of all events.
func (t *tally) events() (n uint64) {
	for kind := eventlog.Added; kind <= eventlog.Deleted; kind++ {
		n += t.shown[kind].Load()
	}
	return n
}

// fill copies the counts into totals.
func (t *tally) fill(to *Totals) {
	to.Added = t.shown[eventlog.Added].Load()
	to.Updated = t.shown[eventlog.Updated].Load()
	to.Deleted = t.shown[eventlog.Deleted].Load()
	to.Bookmarks = t.shown[tallyBookmarks].Load()
}
