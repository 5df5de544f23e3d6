package informer

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

const (
	firstSegment = 8
	fullSegment  = 256
)

// flags are what is known of an event beside its kind.
type flags uint8

const (
	flagInitial   flags = 1 << iota // an add of the initial state
	flagLost                        // a delete found out from a list
	flagRecreated                   // an update to an object with another UID
	flagUnknown                     // a delete of an object that was not there
	flagNoted                       // key and UID are in the segment's notes: the objects do not tell
)

// pair is the objects of an event. That of a delete has the final state as old
// and, as new, the version that was stored: what the handlers know.
type pair struct{ old, new any }

// header is what an event is beside its objects.
type header struct {
	kind  Kind
	flags flags
}

func (h header) is(f flags) bool { return h.flags&f != 0 }

// event is one entry of the log, where it stands alone.
type event struct {
	pair
	header
}

// note is what the objects of an event do not tell of themselves.
type note struct {
	key indexer.Key
	uid string
}

// read reads the note from the objects of the event. It returns false if they
// do not tell.
func (e event) read() (n note, ok bool) {
	obj := e.new
	if e.kind == Deleted {
		obj = e.old
	}
	if e.is(flagLost) && e.is(flagUnknown) {
		return n, false // there is no object
	}
	n.key, ok = keyOf(obj)
	n.uid = identityOf(obj).uid
	return n, ok
}

// segment is a run of the log. Readers see the first n events, and next once
// they have read them all. Pairs and headers are apart: padded to whole words, an
// event would take 40 bytes instead of 34, or 24 instead of 18, which counts under
// a stuck handler.
type segment struct {
	base    uint64 // position in the log of the first event
	pairs   []pair
	headers []header
	notes   atomic.Pointer[[]note] // beside the events, if any is noted
	n       atomic.Uint32
	next    atomic.Pointer[segment]

	// cleared is how many events have been read by all and hold no objects any more.
	// Guarded by sharedProcessor.mu or, where nobody reads, by the write section.
	cleared uint32
}

func newSegment(base uint64, size int) *segment {
	return &segment{base: base, pairs: make([]pair, size), headers: make([]header, size)}
}

// size is the number of events that there is room for.
func (s *segment) size() int { return len(s.headers) }

// event returns event i.
func (s *segment) event(i uint32) event { return event{s.pairs[i], s.headers[i]} }

// note returns the key and the UID of event i.
func (s *segment) note(i uint32) note {
	if s.headers[i].is(flagNoted) {
		return (*s.notes.Load())[i]
	}
	n, _ := s.event(i).read()
	return n
}

// clear lets go of the objects of all events before one, which all have read.
func (s *segment) clear(before uint32) {
	clear(s.pairs[s.cleared:before])
	s.cleared = before
}

// eventLog is the log of changes that all handlers read, each at its own
// cursor. It is a linked list that only grows at its end: what every reader
// has passed is garbage by itself. One goroutine writes; what it appends shows
// to readers when it publishes.
type eventLog struct {
	// The writer's own.
	tail    *segment
	written uint32   // events in tail, published or not
	first   *segment // the first segment with unpublished events

	// published is the end that readers see. Written within the indexer's write
	// sections, and read there.
	published cursor
	end       atomic.Uint64 // the position of published
}

// cursor is a place between two events of the log.
type cursor struct {
	segment *segment
	i       uint32
}

func (c cursor) position() uint64 { return c.segment.base + uint64(c.i) }

func newEventLog() *eventLog {
	s := newSegment(0, firstSegment)
	return &eventLog{tail: s, first: s, published: cursor{segment: s}}
}

// append adds an event behind the published end.
func (l *eventLog) append(e event) {
	if int(l.written) == l.tail.size() {
		l.extend()
	}
	s, i := l.tail, l.written
	s.pairs[i], s.headers[i] = e.pair, e.header
	l.written = i + 1
}

// note keeps a note beside the event that was appended last.
func (l *eventLog) note(n note) {
	s, i := l.tail, l.written-1
	s.headers[i].flags |= flagNoted
	if s.notes.Load() == nil {
		notes := make([]note, s.size())
		s.notes.Store(&notes)
	}
	(*s.notes.Load())[i] = n
}

func (l *eventLog) extend() {
	size := l.tail.size()
	s := newSegment(l.tail.base+uint64(size), min(2*size, fullSegment))
	l.tail.next.Store(s)
	l.tail, l.written = s, 0
}

// publish shows what was appended. The caller is in a write section.
func (l *eventLog) publish() {
	for s := l.first; s != l.tail; s = s.next.Load() {
		s.n.Store(uint32(s.size())) //nolint:gosec // at most fullSegment
	}
	l.tail.n.Store(l.written)
	l.first = l.tail
	l.published = cursor{l.tail, l.written}
	l.end.Store(l.published.position())
}

// clear lets go of the objects of the last segment, which nobody is going to read.
// The caller is in a write section, and has published.
func (l *eventLog) clear() { l.tail.clear(l.written) }
