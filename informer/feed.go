package informer

import (
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// feed holds what one handler is still to be told: the initial state, then the log,
// and in between the state again, where the handler is resynced. The registration's
// goroutine takes; the publisher, Stop and those who ask may call the rest at any
// time.
//
//	empty --start--> replaying --all taken--> following --resync--> resyncing --all taken--> following
//	any --close--> closed
type feed interface {
	// start hands over the initial state, and the place in the log that belongs to it.
	start(initial indexer.Snapshot[any], from eventlog.Cursor)
	// resync hands over the state to be told again, and the place in the log that
	// belongs to it. It does nothing during the initial state or another resync.
	resync(state indexer.Snapshot[any], at eventlog.Cursor)
	// take takes the next few events into an empty batch. It returns false if there
	// are none.
	take(b *eventlog.Batch) bool
	// told says how many of the taken events are still to be told.
	told(left int)
	// total returns how many events have been told.
	total() uint64
	// only returns whom the event is about that is in hand, where it is one of the log, and
	// the only one. The caller sees to it that the log is not cleared.
	only() eventlog.Subject
	// started returns when the initial state was handed over.
	started() time.Time
	// ready tells whether there is something to take.
	ready() bool
	// pending returns how many events are still to be told, without those of a
	// resync, and how many of them belong to the initial state.
	pending() (events, initial int)
	// delivered returns the position in the log up to which all was told, false
	// before the initial state was.
	delivered() (position uint64, ok bool)
	// caughtUp returns the place in the log where the feed has nothing left to take,
	// false if it stands elsewhere than at a position.
	caughtUp(position uint64) (at eventlog.Cursor, ok bool)
	// close lets go of everything, for good.
	close()
}

// feedState says what a feed takes from next.
type feedState uint8

const (
	feedEmpty feedState = iota
	feedReplaying
	feedFollowing
	feedResyncing
	feedClosed
)

// feedBase is what both feeds are made of.
type feedBase struct {
	log   *eventlog.Log
	burst int // how many events are taken at once, at the most

	// mu guards what follows.
	mu     sync.Mutex
	state  feedState
	cursor eventlog.Cursor // what comes next; of no use in feedEmpty and feedClosed
	walk   walk            // the state that is told, in feedReplaying and feedResyncing
	inHand inHand
	count  uint64    // events that have been told
	since  time.Time // when the initial state was handed over
}

// inHand is what was taken and is still to be told.
type inHand struct {
	events int
	from   feedState // what the feed was in when they were taken
}

func (f *feedBase) start(initial indexer.Snapshot[any], from eventlog.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.state == feedEmpty {
		f.state, f.cursor, f.walk = feedReplaying, from, walk{objects: initial}
		f.since = time.Now()
	}
}

func (f *feedBase) told(left int) {
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

// open tells whether events may be taken. The caller holds mu.
func (f *feedBase) open() bool { return f.state != feedEmpty && f.state != feedClosed }

func (f *feedBase) ready() bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.open() && (f.walk.left() > 0 || f.behind() > 0)
}

// behind returns how many events of the log come after the cursor. The caller holds
// mu.
func (f *feedBase) behind() int {
	return int(f.log.End() - f.cursor.Position()) //nolint:gosec // they fit in memory
}

// untold returns how many events are still to be told that the cursor has passed, or
// that belong to the initial state, and how many do. The caller holds mu.
func (f *feedBase) untold() (events, initial int) {
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

// replayed tells whether all of the initial state was told. The caller holds mu.
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

// drop lets go of everything that both feeds have. The caller holds mu.
func (f *feedBase) drop() {
	f.state, f.cursor, f.walk, f.inHand = feedClosed, eventlog.Cursor{}, walk{}, inHand{}
}

// walk is a state of the store on its way to one handler.
type walk struct {
	objects indexer.Snapshot[any]
	next    int
}

func (w *walk) left() int { return w.objects.Len() - w.next }

// pop returns the next object. There is one left.
func (w *walk) pop() any {
	w.next++
	return w.objects.At(w.next - 1)
}

// take adds what is left to a batch, as far as it has room, and returns how much that
// was.
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

// initialEvent and resyncEvent are what handlers are told of an object of a state.
func initialEvent(obj any) eventlog.Event {
	return eventlog.Event{Pair: eventlog.Pair{New: obj}, Header: eventlog.Header{Kind: eventlog.Added, Flags: eventlog.Initial}}
}

func resyncEvent(obj any) eventlog.Event {
	return eventlog.Event{Pair: eventlog.Pair{Old: obj, New: obj}, Header: eventlog.Header{Kind: eventlog.Updated}}
}
