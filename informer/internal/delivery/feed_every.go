package delivery

import "github.com/tidemark-k8s/tidemark/informer/internal/eventlog"

// everyChange yields all changes of the log in order. A resync is delivered at its position in the log,
// between two changes.
type everyChange struct {
	feed  *feed
	until uint64 // position of the resync, in feedResyncing
}

func (e *everyChange) resync(at eventlog.Cursor) { e.until = at.Position() }

func (e *everyChange) take(b *eventlog.Batch) bool {
	f := e.feed
	b.Limit(f.burst)
	switch {
	case f.state == feedReplaying && f.takeWalk(b, initialEvent):
		return true
	case f.state == feedResyncing && (e.takeLog(b, e.until) || f.takeWalk(b, resyncEvent)):
		return true
	}
	f.state = feedFollowing
	return e.takeLog(b, f.log.End()) // without changes that are being published: they do not count yet
}

func (e *everyChange) takeLog(b *eventlog.Batch, limit uint64) bool {
	if !e.feed.cursor.Take(b, limit) {
		return false
	}
	e.feed.inHand = inHand{b.Left(), feedFollowing}
	return true
}

func (e *everyChange) merge()      {}
func (e *everyChange) merged() int { return 0 }

func (e *everyChange) oldest() uint64 {
	position := e.feed.cursor.Position()
	if e.feed.inHand.from == feedFollowing {
		position -= uint64(e.feed.inHand.events) //nolint:gosec // they come before the cursor
	}
	return position
}
