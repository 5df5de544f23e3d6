package delivery

import (
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// BehindLimit is the number of events by which a handler whose changes are merged may lag before the
// publisher merges for it.
const BehindLimit = 4 * 256

// feedState is the source of the next events.
type feedState uint8

const (
	feedEmpty feedState = iota
	feedReplaying
	feedFollowing
	feedResyncing
	feedClosed
)

// feed holds the undelivered events of one handler: the initial state, then the log, and during a resync the
// store's objects again. Only the registration's goroutine calls take. The publisher, Stop and others may
// call the other methods at any time.
//
//	empty --start--> replaying --all taken--> following --resync--> resyncing --all taken--> following
//	any --close--> closed
type feed struct {
	log   *eventlog.Log
	burst int // the largest number of events taken at once

	// mu guards the fields below.
	mu      sync.Mutex
	state   feedState
	cursor  eventlog.Cursor // the next event; unset in feedEmpty and feedClosed
	walk    walk            // objects to deliver in feedReplaying and feedResyncing
	changes changes         // the changes after the cursor, and merged ones before it; nil in feedClosed
	inHand  inHand
	count   uint64    // events delivered
	since   time.Time // time of start
	final   extent    // in feedClosed, what delivered returns
}

// extent is the position up to which a handler has the log. ok is false until the handler has the whole
// initial state.
type extent struct {
	position uint64
	ok       bool
}

// changes are the undelivered changes of a feed: [everyChange] or [latestChanges]. The caller of each
// method holds the feed's mu, and the feed is neither empty nor closed.
type changes interface {
	// take moves the next few events of the feed into an empty batch. It returns false if there are none. In
	// a resync it may return true with an empty batch, because it looks at only a few objects at a time.
	take(b *eventlog.Batch) bool
	// resync is called at the beginning of a resync. at is the end of the log.
	resync(at eventlog.Cursor)
	// merge merges the published changes. It does nothing in a feed that does not merge.
	merge()
	// merged returns the number of merged changes, which are no longer in the log.
	merged() int
	// oldest returns the position up to which the handler has got the log.
	oldest() uint64
}

// inHand counts the events that are taken but not delivered yet.
type inHand struct {
	events int
	from   feedState // the feed's state when they were taken
}

// start sets the initial state, and its position in the log.
func (f *feed) start(initial indexer.Snapshot[any], from eventlog.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state == feedEmpty {
		f.state, f.cursor, f.walk = feedReplaying, from, walk{objects: initial}
		f.since = time.Now()
	}
}

// resync sets the objects to deliver again, and their position in the log. It does nothing during the initial
// state or another resync.
func (f *feed) resync(state indexer.Snapshot[any], at eventlog.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state == feedFollowing {
		f.state, f.walk = feedResyncing, walk{objects: state}
		f.changes.resync(at)
	}
}

// take moves the next few events into an empty batch, see [changes]. It returns false if there are none.
func (f *feed) take(b *eventlog.Batch) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.open() && f.changes.take(b)
}

// takeWalk takes objects of the initial state or of a resync, each as an event.
func (f *feed) takeWalk(b *eventlog.Batch, event func(any) eventlog.Event) bool {
	n := f.walk.take(b, event)
	f.inHand = inHand{n, f.state}
	return n > 0
}

// mergeBehind merges the changes of a handler that lags too far.
func (f *feed) mergeBehind() {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.open() && f.behind() > BehindLimit {
		f.changes.merge()
	}
}

// progress sets the number of taken events that are not delivered.
func (f *feed) progress(left int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state != feedClosed {
		f.count += uint64(f.inHand.events - left) //nolint:gosec // never more than there were
		f.inHand.events = left
	}
}

// total returns the number of events delivered so far.
func (f *feed) total() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.count
}

// started returns the time of start.
func (f *feed) started() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.since
}

// open reports whether events may be taken. The caller holds mu.
func (f *feed) open() bool { return f.state != feedEmpty && f.state != feedClosed }

// ready reports whether take would return events.
func (f *feed) ready() bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.open() && (f.walk.left() > 0 || f.changes.merged() > 0 || f.behind() > 0)
}

// behind returns the number of events after the cursor. The caller holds mu.
func (f *feed) behind() int {
	return int(f.log.End() - f.cursor.Position()) //nolint:gosec // they fit in memory
}

// pending returns the number of undelivered events, without those of a resync, and the number of them that
// belong to the initial state.
func (f *feed) pending() (events, initial int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.open() {
		return 0, 0
	}
	if f.state == feedReplaying {
		initial = f.walk.left()
	}
	switch f.inHand.from {
	case feedReplaying:
		initial += f.inHand.events
	case feedFollowing:
		events = f.inHand.events
	}
	return initial + events + f.changes.merged() + f.behind(), initial
}

// delivered returns the position up to which the handler has got the log, or false before it has got the
// whole initial state.
func (f *feed) delivered() (position uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	e := f.extent()
	return e.position, e.ok
}

// extent returns how far the handler has got the log. The caller holds mu.
func (f *feed) extent() extent {
	switch {
	case f.state == feedClosed:
		return f.final
	case f.replayed():
		return extent{f.changes.oldest(), true}
	}
	return extent{}
}

// replayed reports whether the whole initial state has been delivered. The caller holds mu.
func (f *feed) replayed() bool {
	return f.open() && (f.state != feedReplaying || f.walk.left() == 0) && (f.inHand.from != feedReplaying || f.inHand.events == 0)
}

// caughtUp reports whether the feed takes no more events before a published position of the log. A feed that
// is empty will start at the published end.
func (f *feed) caughtUp(position uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return !f.open() || f.cursor.Position() >= position
}

// close releases everything. A closed feed stays closed.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.final = f.extent()
	f.state, f.cursor, f.walk, f.changes, f.inHand = feedClosed, eventlog.Cursor{}, walk{}, nil, inHand{}
}

// walk is the undelivered part of a snapshot of the store.
type walk struct {
	objects indexer.Snapshot[any]
	next    int
}

func (w *walk) left() int { return w.objects.Len() - w.next }

// pop returns the next object. There must be one left.
func (w *walk) pop() any {
	w.next++
	return w.objects.At(w.next - 1)
}

// take adds as many remaining objects to a batch as there is room for, and returns their number.
func (w *walk) take(b *eventlog.Batch, event func(obj any) eventlog.Event) int {
	n := 0
	for ; w.left() > 0 && !b.Full(); n++ {
		b.Add(event(w.pop()))
	}
	if w.left() == 0 {
		*w = walk{}
	}
	return n
}

// initialEvent and resyncEvent make the event for an object of a walk.
func initialEvent(obj any) eventlog.Event {
	return eventlog.Event{Pair: eventlog.Pair{New: obj}, Header: eventlog.Header{Kind: eventlog.Added, Flags: eventlog.Initial}}
}

func resyncEvent(obj any) eventlog.Event {
	return eventlog.Event{Pair: eventlog.Pair{Old: obj, New: obj}, Header: eventlog.Header{Kind: eventlog.Updated}}
}
