package delivery

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// latestChanges yields, for each object, the difference from the version that the handler saw last. Events
// are merged when some are taken, and when the handler lags too far. So the changes do not keep the log in
// memory, and take at most one event for each object.
//
// A resync walks through a snapshot in addition to the log. A batch of changes and a batch of the walk take
// turns, so that changes cannot keep the resync from ending. The resync leaves out objects that have changed
// since the snapshot.
type latestChanges struct {
	feed   *feed
	table  eventlog.Coalesced
	most   int                                 // the largest number of table entries taken at once
	first  uint64                              // position of the first event taken from the table
	turn   feedState                           // in feedResyncing, the next batch: changes (feedFollowing) or the walk (feedResyncing)
	stored func(key indexer.Key, obj any) bool // reports whether an object is the one stored under a key
}

func (l *latestChanges) resync(eventlog.Cursor) { l.turn = feedFollowing }

func (l *latestChanges) take(b *eventlog.Batch) bool {
	f := l.feed
	l.merge()
	if f.state == feedReplaying {
		b.Limit(f.burst)
		if f.takeWalk(b, initialEvent) {
			return true
		}
		f.state = feedFollowing
	}
	if f.state == feedResyncing && l.turn == feedResyncing && l.takeResync(b) {
		return true
	}
	return l.takeTable(b) || f.state == feedResyncing && l.takeResync(b)
}

func (l *latestChanges) takeTable(b *eventlog.Batch) bool {
	b.Limit(l.most)
	first, ok := l.table.Pop(b)
	if !ok {
		return false
	}
	for more := true; more && !b.Full(); {
		_, more = l.table.Pop(b)
	}
	l.first, l.feed.inHand, l.turn = first, inHand{b.Left(), feedFollowing}, feedResyncing
	return true
}

// takeResync takes objects that have not changed since the resync began, and that have no pending change. It
// looks at only a few objects at a time, because the publisher may wait for mu.
func (l *latestChanges) takeResync(b *eventlog.Batch) bool {
	f := l.feed
	b.Limit(l.most)
	for n := max(Burst, l.most); n > 0 && f.walk.left() > 0 && !b.Full(); n-- {
		if obj := f.walk.pop(); l.unchanged(obj) {
			b.Add(resyncEvent(obj))
		}
	}
	if f.walk.left() == 0 {
		f.state, f.walk = feedFollowing, walk{}
	}
	f.inHand, l.turn = inHand{b.Left(), feedResyncing}, feedFollowing
	return b.Left() > 0 || f.walk.left() > 0
}

// unchanged reports whether an object is still stored and has no pending change.
func (l *latestChanges) unchanged(obj any) bool {
	m := object.Meta(obj)
	if m == nil {
		return false
	}
	key := object.Key(m)
	return !l.table.Has(key) && l.stored(key, obj)
}

func (l *latestChanges) merge() {
	l.feed.cursor.Merge(&l.table, l.feed.log.End())
	l.table.Check()
}

func (l *latestChanges) merged() int { return l.table.Len() }

func (l *latestChanges) oldest() uint64 {
	if l.feed.inHand.events > 0 && l.feed.inHand.from == feedFollowing {
		return l.first
	}
	if oldest, ok := l.table.Oldest(); ok {
		return oldest
	}
	return l.feed.cursor.Position()
}
