package eventlog

import "github.com/tidemark-k8s/tidemark/indexer"

// Batch holds copies of some events, on their way to one handler, so that clearing the log need not
// wait for the handler. It belongs to one goroutine.
//
// Invariant: next <= n <= the room, prepared <= n; only the last event may need its key.
type Batch struct {
	pairs   []Pair
	headers []Header
	key     indexer.Key // of the last event, if it needs one
	next, n int
	// prepared is the number of events given to Prepare's function.
	prepared int
	limit    int // the most events taken at once
}

// NewBatch returns an empty batch with room for some events, and this number as its limit.
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

// AtInitial reports whether the next event belongs to the initial state. There must be one.
func (b *Batch) AtInitial() bool { return b.headers[b.next].Is(Initial) }

// Full reports whether the batch takes no more events until it is empty.
func (b *Batch) Full() bool { return b.n >= b.limit || b.n > 0 && b.headers[b.n-1].needsKey() }

// Next returns the next undelivered event, and its key if it needs one.
func (b *Batch) Next() (p *Pair, h Header, key *indexer.Key) {
	i := b.next
	b.next = i + 1
	if h = b.headers[i]; h.needsKey() {
		key = &b.key
	}
	return &b.pairs[i], h, key
}

// Prepare lets a function change the objects of the next few events, once for each.
func (b *Batch) Prepare(events int, prepare func(p *Pair, h Header)) {
	for end := min(b.n, b.next+events); b.prepared < end; b.prepared++ {
		prepare(&b.pairs[b.prepared], b.headers[b.prepared])
	}
}

// Skip drops the undelivered events, except for the last keep.
func (b *Batch) Skip(keep int) { b.next = b.n - keep }

// Add adds an event to a batch that is not full, or the second event of a recreated object to any
// batch.
func (b *Batch) Add(e Event) {
	b.reserve(1)
	b.pairs[b.n], b.headers[b.n] = e.Pair, e.Header
	b.n++
}

// fill adds events i to n of a segment, up to the first event that needs its key. It returns the
// index behind the last one added.
func (b *Batch) fill(s *segment, i, n uint32) (behind uint32) {
	for j := i; j < n; j++ {
		if s.headers[j].needsKey() {
			b.key, n = s.identity(j).Key, j+1
		}
	}
	b.reserve(int(n - i))
	copy(b.pairs[b.n:], s.pairs[i:n])
	b.n += copy(b.headers[b.n:], s.headers[i:n])
	return n
}

// Empty releases the objects.
func (b *Batch) Empty() {
	clear(b.pairs[:b.n])
	b.key, b.next, b.prepared, b.n = indexer.Key{}, 0, 0, 0
}
