package informer

import "github.com/tidemark-k8s/tidemark/indexer"

// burst is how many events a registration takes out of the log at once.
const burst = 64

// taken holds copies of the next few events of the log, on their way to one
// handler. Whoever clears the log need not wait for that handler.
//
// Invariant: next <= n <= burst; of the events only the last may need its key.
type taken struct {
	pairs   [burst]pair
	headers [burst]header
	key     indexer.Key // of the last event, if it needs one
	next, n int
	end     uint64 // the position of the log behind the last event
}

// needsKey tells whether an event is told with its key: few are.
func (h header) needsKey() bool { return h.is(flagLost | flagRecreated) }

// fill takes the events between a cursor and place n of its segment, up to the
// first that needs its key, and moves the cursor behind them.
func (t *taken) fill(c *cursor, n uint32) {
	s := c.segment
	for i := c.i; i < n; i++ {
		if s.headers[i].needsKey() {
			t.key, n = s.note(i).key, i+1
		}
	}
	t.next, t.n = 0, copy(t.pairs[:], s.pairs[c.i:n])
	copy(t.headers[:], s.headers[c.i:n])
	c.i = n
	t.end = c.position()
}

// position is how far in the log the handler is.
func (t *taken) position() uint64 { return t.end - uint64(t.n-t.next) } //nolint:gosec // next <= n

// empty lets go of the objects.
func (t *taken) empty() {
	clear(t.pairs[:t.n])
	t.key, t.next, t.n = indexer.Key{}, 0, 0
}
