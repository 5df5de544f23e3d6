package informer

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// tally counts what has happened to the store. It is counted in write sections, and
// shown at their ends.
type tally struct {
	now   [tallied]uint64
	shown [tallied]atomic.Uint64
}

// tallyBookmarks is the place of the bookmarks in a tally; those of events are at their
// kinds.
const (
	tallyBookmarks = 0
	tallied        = int(eventlog.Deleted) + 1
)

func (t *tally) event(kind eventlog.Kind) { t.now[kind]++ }

// show shows what was counted.
func (t *tally) show() {
	for i, n := range t.now {
		if t.shown[i].Load() != n {
			t.shown[i].Store(n)
		}
	}
}

// events is how many events there were.
func (t *tally) events() (n uint64) {
	for kind := eventlog.Added; kind <= eventlog.Deleted; kind++ {
		n += t.shown[kind].Load()
	}
	return n
}

// fill puts the counts into totals.
func (t *tally) fill(to *Totals) {
	to.Added = t.shown[eventlog.Added].Load()
	to.Updated = t.shown[eventlog.Updated].Load()
	to.Deleted = t.shown[eventlog.Deleted].Load()
	to.Bookmarks = t.shown[tallyBookmarks].Load()
}
