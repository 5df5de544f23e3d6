package informer

import (
	"math"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// everyFeed is the feed of [Every] delivery: all events of the log, in their order. A resync is
// delivered at its place in the log, between two events.
type everyFeed struct {
	feedBase
	until uint64 // position of the resync, in feedResyncing
}

func (f *everyFeed) resync(state indexer.Snapshot[any], at eventlog.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state == feedFollowing {
		f.state, f.walk, f.until = feedResyncing, walk{objects: state}, at.Position()
	}
}

func (f *everyFeed) take(b *eventlog.Batch) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	b.Limit(f.burst)
	switch {
	case !f.open():
		return false
	case f.state == feedReplaying && f.takeWalk(b, initialEvent):
		return true
	case f.state == feedResyncing && (f.takeLog(b, f.until) || f.takeWalk(b, resyncEvent)):
		return true
	}
	f.state = feedFollowing
	return f.takeLog(b, math.MaxUint64)
}

func (f *everyFeed) takeWalk(b *eventlog.Batch, event func(any) eventlog.Event) bool {
	n := f.walk.take(b, event)
	f.inHand = inHand{n, f.state}
	return n > 0
}

func (f *everyFeed) takeLog(b *eventlog.Batch, limit uint64) bool {
	if !f.cursor.Take(b, limit) {
		return false
	}
	f.inHand = inHand{b.Left(), feedFollowing}
	return true
}

func (f *everyFeed) pending() (events, initial int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.open() {
		return 0, 0
	}
	events, initial = f.undelivered()
	return events + f.behind(), initial
}

func (f *everyFeed) delivered() (position uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.replayed() {
		return 0, false
	}
	position = f.cursor.Position()
	if f.inHand.from == feedFollowing {
		position -= uint64(f.inHand.events) //nolint:gosec // they come before the cursor
	}
	return position, true
}

func (f *everyFeed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.drop()
}
