package eventlog

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

const (
	firstSegment = 8
	fullSegment  = 256
)

// Log is the log of changes. One goroutine at a time appends and publishes, in write sections of the store.
// Any goroutine may call [Log.End].
type Log struct {
	// Owned by the writer.
	tail    *segment
	written uint32 // events in tail, published or not

	// end is the position after the last published event, and last is its segment. Only the writer sets them, last
	// before end.
	last atomic.Pointer[segment]
	end  atomic.Uint64
}

// New returns an empty log.
func New() *Log {
	s := newSegment(0, firstSegment)
	l := &Log{tail: s}
	l.last.Store(s)
	return l
}

// Append adds an event after the published end. The event's objects show its identity.
func (l *Log) Append(e Event) {
	if int(l.written) == l.tail.size() {
		l.extend()
	}
	s, i := l.tail, l.written
	s.pairs[i], s.headers[i] = e.Pair, e.Header
	l.written = i + 1
}

// AppendAs is Append for an event whose objects may not show the server's key and UID.
func (l *Log) AppendAs(e Event, id object.Identity) {
	l.Append(e)
	if shown, ok := e.identity(); ok && shown.Key == id.Key && shown.UID == id.UID {
		return
	}
	s, i := l.tail, l.written-1
	s.headers[i].Flags |= noted
	if s.notes.Load() == nil {
		notes := make([]object.Identity, s.size())
		s.notes.Store(&notes)
	}
	(*s.notes.Load())[i] = id
}

func (l *Log) extend() {
	size := l.tail.size()
	s := newSegment(l.tail.base+uint64(size), min(2*size, fullSegment))
	l.tail.next.Store(s)
	l.tail, l.written = s, 0
}

// Publish makes the appended events visible, and reports whether they have filled a segment.
func (l *Log) Publish() (filled bool) {
	s := l.last.Load()
	filled = s != l.tail
	for ; s != l.tail; s = s.next.Load() {
		s.n.Store(uint32(s.size())) //nolint:gosec // at most fullSegment
	}
	l.tail.n.Store(l.written)
	if filled {
		l.last.Store(l.tail)
	}
	l.end.Store(Cursor{l.tail, l.written}.Position())
	return filled
}

// End returns the position after the last published event.
func (l *Log) End() uint64 { return l.end.Load() }

// Published returns the position after the last published event. The caller is in a write section.
func (l *Log) Published() Cursor {
	s := l.last.Load()
	return Cursor{s, uint32(l.End() - s.base)} //nolint:gosec // at most fullSegment
}

// Clear releases the objects of the last segment that come before a position. The position is an End of the
// log that no cursor is behind. Calls take turns, and their positions never go back. The writer may go on
// meanwhile.
func (l *Log) Clear(before uint64) {
	if s := l.last.Load(); s.base <= before { // otherwise the writer has filled the segment
		s.clear(uint32(before - s.base)) //nolint:gosec // at most fullSegment
	}
}

// segment is a part of the log. Readers see the first n events, and then follow next. Pairs and headers are
// in separate slices. Together, padded to whole words, an event would take 40 bytes instead of 34, which
// matters when a handler is stuck.
type segment struct {
	base    uint64 // position in the log of the first event
	pairs   []Pair
	headers []Header
	notes   atomic.Pointer[[]object.Identity] // parallel to the events, if any is noted
	n       atomic.Uint32
	next    atomic.Pointer[segment]

	// cleared is the number of events whose objects were released after all cursors had read them. It is
	// guarded by the lock that is held while all cursors are compared.
	cleared uint32
}

func newSegment(base uint64, size int) *segment {
	return &segment{base: base, pairs: make([]Pair, size), headers: make([]Header, size)}
}

// size returns the number of events that fit.
func (s *segment) size() int { return len(s.headers) }

// event returns event i.
func (s *segment) event(i uint32) Event { return Event{s.pairs[i], s.headers[i]} }

// identity returns the identity of event i.
func (s *segment) identity(i uint32) object.Identity {
	if s.headers[i].Is(noted) {
		return (*s.notes.Load())[i]
	}
	id, _ := s.event(i).identity()
	return id
}

// clear releases the objects of all events before an index.
func (s *segment) clear(before uint32) {
	clear(s.pairs[s.cleared:before])
	s.cleared = before
}
