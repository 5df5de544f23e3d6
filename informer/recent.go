package informer

import (
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

const (
	// mostRecent is how many events are kept for [Inspector.Recent].
	mostRecent = 200
	// recentPlaces are those and the places that are written to before they are shown. They are few
	// more, so that all of them stay in the processor's first cache.
	recentPlaces = mostRecent + 20
)

// recentEvents are the last events of an informer. A write section writes to places that
// nobody reads, and shows them at its end, or when it has no more of them: who asks does not
// wait for the section. The keys and versions are the objects' own text, which so outlives
// an object by some 200 events.
//
// Invariant: shown <= written <= shown + recentPlaces - mostRecent.
type recentEvents struct {
	clock *clock

	// Guarded by the store's write section.
	written uint64        // how many events have been written
	next    int           // the place of the next one
	at      time.Duration // when the section wrote the first one, within about a second

	mu     sync.Mutex
	shown  uint64 // how many events may be read; written in write sections, and read there
	places [recentPlaces]recentEvent
}

type recentEvent struct {
	at      time.Duration
	key     indexer.Key
	version string
	kind    eventlog.Kind
}

// note notes an event, in a write section.
func (r *recentEvents) note(kind eventlog.Kind, key indexer.Key, version string) {
	switch r.written - r.shown {
	case 0:
		r.at = r.clock.lastTick()
	case recentPlaces - mostRecent:
		r.show()
	}
	e := &r.places[r.next]
	e.at, e.key, e.version, e.kind = r.at, key, version, kind
	r.written++
	if r.next++; r.next == recentPlaces {
		r.next = 0
	}
}

// show shows what was noted, in a write section.
func (r *recentEvents) show() {
	if r.shown == r.written {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	r.shown = r.written
}

// all returns the last events, the newest last.
func (r *recentEvents) all() []RecentEvent {
	r.mu.Lock()
	defer r.mu.Unlock()

	n := min(mostRecent, r.shown)
	all := make([]RecentEvent, 0, n)
	for i := r.shown - n; i < r.shown; i++ {
		e := &r.places[i%recentPlaces]
		all = append(all, RecentEvent{At: r.clock.at(e.at), Kind: Kind(e.kind), Key: e.key, Version: e.version})
	}
	return all
}
