package informer

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// behindLimit is the number of events by which a handler with [Latest] delivery may lag before the
// publisher merges for it.
const behindLimit = 4 * 256

// latestFeed is the feed of [Latest] delivery: for each object, the difference from the version
// that the handler saw last. It merges events when some are taken, or when the handler lags too
// far. So it holds on to neither the log nor more than one event an object.
//
// A resync walks a snapshot beside the log. A batch of changes and one of the walk take turns, so
// that changes cannot keep the resync from ending. An object that has changed since the snapshot is
// left out.
type latestFeed struct {
	feedBase
	table  eventlog.Coalesced
	most   int                                 // the largest number of table entries taken at once
	first  uint64                              // position of the first event taken from the table
	turn   feedState                           // in feedResyncing, what comes next: the changes (feedFollowing) or the walk (feedResyncing)
	stored func(key indexer.Key, obj any) bool // reports whether an object is the one stored under a key
}

func (f *latestFeed) resync(state indexer.Snapshot[any], _ eventlog.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state == feedFollowing {
		f.state, f.walk, f.turn = feedResyncing, walk{objects: state}, feedFollowing
	}
}

func (f *latestFeed) take(b *eventlog.Batch) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.open() {
		return false
	}
	f.merge()
	if f.state == feedReplaying {
		b.Limit(f.burst)
		if n := f.walk.take(b, initialEvent); n > 0 {
			f.inHand = inHand{n, feedReplaying}
			return true
		}
		f.state = feedFollowing
	}
	if f.state == feedResyncing && f.turn == feedResyncing && f.takeResync(b) {
		return true
	}
	return f.takeTable(b) || f.state == feedResyncing && f.takeResync(b)
}

func (f *latestFeed) takeTable(b *eventlog.Batch) bool {
	b.Limit(f.most)
	first, ok := f.table.Pop(b)
	if !ok {
		return false
	}
	for more := true; more && !b.Full(); {
		_, more = f.table.Pop(b)
	}
	f.first, f.inHand, f.turn = first, inHand{b.Left(), feedFollowing}, feedResyncing
	return true
}

// takeResync takes objects that have not changed since the resync began. The handler has seen each of
// them: no change of it is pending.
func (f *latestFeed) takeResync(b *eventlog.Batch) bool {
	b.Limit(f.most)
	for f.walk.left() > 0 && !b.Full() {
		obj := f.walk.pop()
		if key, ok := keyOf(obj); ok && !f.table.Has(key) && f.stored(key, obj) {
			b.Add(resyncEvent(obj))
		}
	}
	if f.walk.left() == 0 {
		f.state, f.walk = feedFollowing, walk{}
	}
	f.inHand, f.turn = inHand{b.Left(), feedResyncing}, feedFollowing
	return b.Left() > 0
}

// merge merges all published events into the table. The caller holds mu.
func (f *latestFeed) merge() {
	f.cursor.Merge(&f.table, f.log.End())
	f.table.Check()
}

// mergeBehind merges for a handler that lags too far.
func (f *latestFeed) mergeBehind() {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.open() && f.behind() > behindLimit {
		f.merge()
	}
}

func (f *latestFeed) ready() bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.open() && (f.walk.left() > 0 || f.table.Len() > 0 || f.behind() > 0)
}

func (f *latestFeed) pending() (events, initial int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.open() {
		return 0, 0
	}
	events, initial = f.undelivered()
	return events + f.table.Len() + f.behind(), initial
}

func (f *latestFeed) delivered() (position uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.replayed() {
		return 0, false
	}
	if f.inHand.events > 0 && f.inHand.from == feedFollowing {
		return f.first, true
	}
	if oldest, ok := f.table.Oldest(); ok {
		return oldest, true
	}
	return f.cursor.Position(), true
}

func (f *latestFeed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.drop()
	f.table = eventlog.Coalesced{}
}
