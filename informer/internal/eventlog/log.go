package eventlog

import "sync/atomic"

const (
	firstSegment = 8
	fullSegment  = 256
)

// Log is the log of changes. One goroutine at a time appends and publishes, in write
// sections of the store; any goroutine may call [Log.End].
type Log struct {
	// The writer's own.
	tail    *segment
	written uint32   // events in tail, published or not
	first   *segment // the first segment with unpublished events

	// published is the end that readers see. Written within the store's write
	// sections, and read there.
	published Cursor
	end       atomic.Uint64 // the position of published
}

// New returns an empty log.
func New() *Log {
	s := newSegment(0, firstSegment)
	return &Log{tail: s, first: s, published: Cursor{segment: s}}
}

// Append adds an event behind the published end. The objects tell its identity.
func (l *Log) Append(e Event) {
	if int(l.written) == l.tail.size() {
		l.extend()
	}
	s, i := l.tail, l.written
	s.pairs[i], s.headers[i] = e.Pair, e.Header
	l.written = i + 1
}

// AppendAs is Append for an event whose objects may tell another identity than the
// server's, or none.
func (l *Log) AppendAs(e Event, id Identity) {
	l.Append(e)
	if told, ok := e.identity(); ok && told == id {
		return
	}
	s, i := l.tail, l.written-1
	s.headers[i].Flags |= noted
	if s.notes.Load() == nil {
		notes := make([]Identity, s.size())
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

// Publish shows what was appended, and tells whether that has filled a segment.
func (l *Log) Publish() (filled bool) {
	filled = l.first != l.tail
	for s := l.first; s != l.tail; s = s.next.Load() {
		s.n.Store(uint32(s.size())) //nolint:gosec // at most fullSegment
	}
	l.tail.n.Store(l.written)
	l.first = l.tail
	l.published = Cursor{l.tail, l.written}
	l.end.Store(l.published.Position())
	return filled
}

// End returns the position behind the last published event.
func (l *Log) End() uint64 { return l.end.Load() }

// Published returns the place behind the last published event. The caller is in a
// write section.
func (l *Log) Published() Cursor { return l.published }

// Discard lets go of the objects of the last segment, where nobody reads the log. The
// caller is in a write section, and has published.
func (l *Log) Discard() { l.tail.clear(l.written) }

// segment is a run of the log. Readers see the first n events, and next once
// they have read them all. Pairs and headers are apart: padded to whole words, an
// event would take 40 bytes instead of 34, which counts under a stuck handler.
type segment struct {
	base    uint64 // position in the log of the first event
	pairs   []Pair
	headers []Header
	notes   atomic.Pointer[[]Identity] // beside the events, if any is noted
	n       atomic.Uint32
	next    atomic.Pointer[segment]

	// cleared is how many events have been read by all and hold no objects any more.
	// Guarded by the lock that is held where all cursors stand at one place or, where
	// nobody reads, by the write section.
	cleared uint32
}

func newSegment(base uint64, size int) *segment {
	return &segment{base: base, pairs: make([]Pair, size), headers: make([]Header, size)}
}

// size is the number of events that there is room for.
func (s *segment) size() int { return len(s.headers) }

// event returns event i.
func (s *segment) event(i uint32) Event { return Event{s.pairs[i], s.headers[i]} }

// identity returns the identity of event i.
func (s *segment) identity(i uint32) Identity {
	if s.headers[i].Is(noted) {
		return (*s.notes.Load())[i]
	}
	id, _ := s.event(i).identity()
	return id
}

// clear lets go of the objects of all events before one.
func (s *segment) clear(before uint32) {
	clear(s.pairs[s.cleared:before])
	s.cleared = before
}
