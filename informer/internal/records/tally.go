package records

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Tally counts the events of the store. A write section counts them in now, and publishes the counts
// in shown at its end.
type Tally struct {
	now   [tallied]uint64
	shown [tallied]atomic.Uint64
}

// tallyBookmarks is the index of the bookmarks in a tally; the index of an event is the kind that handlers
// are told.
const (
	tallyBookmarks = 0
	tallied        = int(eventlog.Deleted) + 1
)

// Event counts an event.
func (t *Tally) Event(kind eventlog.Kind) { t.now[kind]++ }

// Added counts some adds.
func (t *Tally) Added(n int) { t.now[eventlog.Added] += uint64(n) } //nolint:gosec // never negative

// Bookmark counts a bookmark.
func (t *Tally) Bookmark() { t.now[tallyBookmarks]++ }

// Show publishes the counts.
func (t *Tally) Show() {
	for i, n := range t.now {
		if t.shown[i].Load() != n {
			t.shown[i].Store(n)
		}
	}
}

// Events returns the number of all events.
func (t *Tally) Events() (n uint64) {
	for kind := tallyBookmarks + 1; kind < tallied; kind++ {
		n += t.shown[kind].Load()
	}
	return n
}

// Shown returns the published number of the events of a kind.
func (t *Tally) Shown(kind eventlog.Kind) uint64 { return t.shown[kind].Load() }

// Bookmarks returns the published number of bookmarks.
func (t *Tally) Bookmarks() uint64 { return t.shown[tallyBookmarks].Load() }
