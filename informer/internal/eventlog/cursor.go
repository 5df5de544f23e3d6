package eventlog

// Cursor is a position between two events of a log. Only one goroutine at a time may use it. The zero value
// has no position.
type Cursor struct {
	segment *segment
	i       uint32
}

// Position returns the number of events in the log before the cursor.
func (c Cursor) Position() uint64 { return c.segment.base + uint64(c.i) }

// advance moves a cursor at the end of its segment to the next segment. It returns false if there
// is none.
func (c *Cursor) advance() bool {
	if int(c.i) < c.segment.size() {
		return false
	}
	next := c.segment.next.Load()
	if next == nil || next.n.Load() == 0 {
		return false
	}
	c.segment, c.i = next, 0
	return true
}

// Take moves published events, up to a position, into an empty batch until it is full. It returns
// false if there are none.
func (c *Cursor) Take(b *Batch, limit uint64) bool {
	for !b.Full() && c.Position() < limit {
		if c.i == c.segment.n.Load() && !c.advance() {
			break
		}
		most := min(uint64(b.limit-b.n), limit-c.Position(), fullSegment) //nolint:gosec // never negative
		n := min(c.segment.n.Load(), c.i+uint32(most))
		b.fill(c.segment, c.i, n)
		c.i = n
	}
	return b.n > 0
}

// Merge merges the events up to a position into a table.
func (c *Cursor) Merge(into *Coalesced, limit uint64) {
	for c.Position() < limit {
		if c.i == c.segment.n.Load() {
			if !c.advance() {
				return
			}
			continue
		}
		into.Add(c.segment.event(c.i), c.segment.identity(c.i), c.Position())
		c.i++
	}
}
