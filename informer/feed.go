package informer

import (
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// feed holds the undelivered events of one handler: the initial state, then the log, and during a
// resync the store's objects again. The registration's goroutine calls take; the publisher, Stop
// and others may call the rest at any time.
//
//	empty --start--> replaying --all taken--> following --resync--> resyncing --all taken--> following
//	any --close--> closed
type feed interface {
	// start sets the initial state, and its place in the log.
	start(initial indexer.Snapshot[any], from eventlog.Cursor)
	// resync sets the objects to deliver again, and their place in the log. It does nothing during
	// the initial state or another resync.
	resync(state indexer.Snapshot[any], at eventlog.Cursor)
	// take moves the next few events into an empty batch. It returns false if there are none.
	take(b *eventlog.Batch) bool
	// progress sets how many of the taken events are undelivered.
	progress(left int)
	// total returns the number of events delivered so far.
	total() uint64
	// started returns the time of start.
	started() time.Time
	// ready reports whether take would return events.
	ready() bool
	// pending returns the number of undelivered events, without a resync, and how many of them
	// belong to the initial state.
	pending() (events, initial int)
	// delivered returns the position up to which the handler was told the log, or false before it
	// was told the whole initial state.
	delivered() (position uint64, ok bool)
	// caughtUp returns the cursor if it stands at a position of the log, and false otherwise.
	caughtUp(position uint64) (at eventlog.Cursor, ok bool)
	// close releases everything, for good.
	close()
}

// feedState is the source of the next events.
type feedState uint8

const (
	feedEmpty feedState = iota
	feedReplaying
	feedFollowing
	feedResyncing
	feedClosed
)

// feedBase holds the fields and methods that both feeds share.
type feedBase struct {
	log   *eventlog.Log
	burst int // the most events taken at once

	// mu guards the fields below.
	mu     sync.Mutex
	state  feedState
	cursor eventlog.Cursor // the next event; unset in feedEmpty and feedClosed
	walk   walk            // objects to deliver in feedReplaying and feedResyncing
	inHand inHand
	count  uint64    // events delivered
	since  time.Time // time of start
}

// inHand counts the events taken and not delivered yet.
type inHand struct {
	events int
	from   feedState // the feed's state when they were taken
}

func (f *feedBase) start(initial indexer.Snapshot[any], from eventlog.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state == feedEmpty {
		f.state, f.cursor, f.walk = feedReplaying, from, walk{objects: initial}
		f.since = time.Now()
	}
}

func (f *feedBase) progress(left int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state != feedClosed {
		f.count += uint64(f.inHand.events - left) //nolint:gosec // never more than there were
		f.inHand.events = left
	}
}

func (f *feedBase) total() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.count
}

func (f *feedBase) started() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.since
}

// open reports whether events may be taken. The caller holds mu.
func (f *feedBase) open() bool { return f.state != feedEmpty && f.state != feedClosed }

func (f *feedBase) ready() bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.open() && (f.walk.left() > 0 || f.behind() > 0)
}

// behind returns the number of events after the cursor. The caller holds mu.
func (f *feedBase) behind() int {
	return int(f.log.End() - f.cursor.Position()) //nolint:gosec // they fit in memory
}

// undelivered returns the number of undelivered events before the cursor, including the initial state,
// and the number of those in the initial state. The caller holds mu.
func (f *feedBase) undelivered() (events, initial int) {
	if f.state == feedReplaying {
		initial = f.walk.left()
	}
	switch f.inHand.from {
	case feedReplaying:
		initial += f.inHand.events
	case feedFollowing:
		events = f.inHand.events
	}
	return events + initial, initial
}

// replayed reports whether the whole initial state was delivered. The caller holds mu.
func (f *feedBase) replayed() bool {
	return f.open() && (f.state != feedReplaying || f.walk.left() == 0) && (f.inHand.from != feedReplaying || f.inHand.events == 0)
}

func (f *feedBase) caughtUp(position uint64) (at eventlog.Cursor, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.open() || f.cursor.Position() != position {
		return at, false
	}
	return f.cursor, true
}

// drop releases everything in the base. The caller holds mu.
func (f *feedBase) drop() {
	f.state, f.cursor, f.walk, f.inHand = feedClosed, eventlog.Cursor{}, walk{}, inHand{}
}

// walk is a snapshot of the store on its way to one handler.
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

// take adds the remaining objects to a batch, as far as there is room, and returns their number.
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
