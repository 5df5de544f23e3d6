package eventlog

import (
	"slices"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Batch holds copies of some events on their way to a handler, so that the log can be cleared without waiting
// for the handler. It belongs to one goroutine.
//
// Invariant: next <= n <= the room, prepared <= n; keys has an entry for each event that needs its key.
type Batch struct {
	pairs   []Pair
	headers []Header
	keys    []indexer.Key // of the events that need their keys, in order
	nextKey int           // index in keys of the next one
	next, n int
	skipped int // the value of next after the last Skip
	// prepared is the number of events given to Prepare's function.
	prepared int
	limit    int // the largest number of events taken at once
}

// NewBatch returns an empty batch that has room for a number of events, and takes at most this number at
// once.
func NewBatch(room int) *Batch {
	return &Batch{pairs: make([]Pair, room), headers: make([]Header, room), limit: room}
}

// Limit sets the number of events that an empty batch takes at once. The room grows with the events
// taken.
func (b *Batch) Limit(n int) { b.limit = n }

// Room returns the number of events that fit.
func (b *Batch) Room() int { return len(b.headers) }

// reserve makes room for some more events.
func (b *Batch) reserve(more int) {
	if missing := b.n + more - b.Room(); missing > 0 {
		b.pairs = append(b.pairs, make([]Pair, missing)...)
		b.headers = append(b.headers, make([]Header, missing)...)
	}
}

// Left returns the number of undelivered events.
func (b *Batch) Left() int { return b.n - b.next }

// Ahead returns the subject of the next event. There must be one.
func (b *Batch) Ahead() Subject {
	return Subject{b.pairs[b.next].Last(b.headers[b.next].Kind)}
}

// AtInitial reports whether the next event belongs to the initial state. There must be one.
func (b *Batch) AtInitial() bool { return b.headers[b.next].Is(Initial) }

// Full reports whether the batch takes no more events until it is empty.
func (b *Batch) Full() bool { return b.n >= b.limit }

// Next returns the next undelivered event, and its key if it needs one.
func (b *Batch) Next() (p *Pair, h Header, key *indexer.Key) {
	i := b.next
	b.next = i + 1
	if h = b.headers[i]; h.needsKey() {
		key = &b.keys[b.nextKey]
		b.nextKey++
	}
	return &b.pairs[i], h, key
}

// LastKey returns the key of the last event that Next returned, if the event shows its key. After Skip, there
// is none.
func (b *Batch) LastKey() (key indexer.Key, ok bool) {
	if b.next == b.skipped {
		return key, false
	}
	h := b.headers[b.next-1]
	if h.needsKey() {
		return b.keys[b.nextKey-1], true
	}
	m := object.Meta(b.pairs[b.next-1].Last(h.Kind))
	if m == nil {
		return key, false
	}
	return object.Key(m), true
}

// Prepare calls a function, once for each of the next few events, that may change the event's objects. If it
// returns false, the event is not delivered.
func (b *Batch) Prepare(events int, prepare func(p *Pair, h Header) bool) {
	for b.prepared < min(b.n, b.next+events) {
		if prepare(&b.pairs[b.prepared], b.headers[b.prepared]) {
			b.prepared++
		} else {
			b.remove(b.prepared)
		}
	}
}

// remove removes an undelivered event.
func (b *Batch) remove(i int) {
	if b.headers[i].needsKey() {
		key := b.nextKey
		for _, h := range b.headers[b.next:i] {
			if h.needsKey() {
				key++
			}
		}
		b.keys = slices.Delete(b.keys, key, key+1)
	}
	copy(b.headers[i:b.n], b.headers[i+1:b.n])
	copy(b.pairs[i:b.n], b.pairs[i+1:b.n])
	b.n--
	b.pairs[b.n] = Pair{}
}

// Skip drops the undelivered events, except the last keep.
func (b *Batch) Skip(keep int) {
	for ; b.next < b.n-keep; b.next++ {
		if b.headers[b.next].needsKey() {
			b.nextKey++
		}
	}
	b.skipped = b.next
}

// Add adds an event to a batch that is not full. It also adds the second event of a recreated object to a
// full batch. The event must not need its key.
func (b *Batch) Add(e Event) {
	b.reserve(1)
	b.pairs[b.n], b.headers[b.n] = e.Pair, e.Header
	b.n++
}

// fill adds events i to n of a segment.
func (b *Batch) fill(s *segment, i, n uint32) {
	for j := i; j < n; j++ {
		if s.headers[j].needsKey() {
			b.keys = append(b.keys, s.identity(j).Key)
		}
	}
	b.reserve(int(n - i))
	copy(b.pairs[b.n:], s.pairs[i:n])
	b.n += copy(b.headers[b.n:], s.headers[i:n])
}

// Empty releases the objects.
func (b *Batch) Empty() {
	clear(b.pairs[:b.n])
	clear(b.keys)
	b.keys, b.nextKey, b.next, b.skipped, b.prepared, b.n = b.keys[:0], 0, 0, 0, 0, 0
}
