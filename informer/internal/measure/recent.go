package measure

import (
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

const (
	// MostRecent is the number of events that RecentEvents keeps.
	MostRecent = 200
	// recentPlaces is MostRecent and a few places for events that are not shown yet. Their number is small,
	// so that all places fit into the CPU's first-level cache.
	recentPlaces = MostRecent + 20
)

// RecentEvent is an event without its objects. At is accurate to within about a second.
type RecentEvent struct {
	At      time.Time
	Kind    eventlog.Kind
	Key     indexer.Key
	Version string
}

// RecentEvents is a ring of an informer's last events. A write section writes to places that no reader reads,
// and shows them at its end, or when it runs out of places. So a reader never waits for a write section. Keys
// and versions share the memory of the objects, and keep it for some 200 events after the object is gone.
//
// Invariant: shown <= written <= shown + recentPlaces - MostRecent.
type RecentEvents struct {
	epoch *Epoch

	// Guarded by the store's write section.
	written uint64        // number of events written
	next    int           // place of the next event
	at      time.Duration // time of the section's first event, within about a second

	mu     sync.Mutex
	shown  uint64 // number of events that may be read; a write section reads it without mu
	places [recentPlaces]recentEvent
}

type recentEvent struct {
	at      time.Duration
	key     indexer.Key
	version string
	kind    eventlog.Kind
}

// Note records an event. The caller is in a write section.
func (r *RecentEvents) Note(kind eventlog.Kind, key indexer.Key, version string) {
	switch r.written - r.shown {
	case 0:
		r.at = r.epoch.lastTick()
	case recentPlaces - MostRecent:
		r.Show()
	}
	e := &r.places[r.next]
	e.at, e.key, e.version, e.kind = r.at, key, version, kind
	r.written++
	if r.next++; r.next == recentPlaces {
		r.next = 0
	}
}

// Show lets readers see the recorded events. The caller is in a write section.
func (r *RecentEvents) Show() {
	if r.shown == r.written {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	r.shown = r.written
}

// All returns the last events, the newest last.
func (r *RecentEvents) All() []RecentEvent {
	r.mu.Lock()
	defer r.mu.Unlock()

	n := min(MostRecent, r.shown)
	all := make([]RecentEvent, 0, n)
	for i := r.shown - n; i < r.shown; i++ {
		e := &r.places[i%recentPlaces]
		all = append(all, RecentEvent{r.epoch.at(e.at), e.kind, e.key, e.version})
	}
	return all
}
