package indexer

// pending has the objects of a replacement until they are stored, by key and in the order in which
// their keys first arrived.
//
// Invariant: for each pending record r, order[r.value.pos] is r.
type pending struct {
	order []*record     // nil for a removed record
	byKey *table[entry] // nil before the first record
	room  int           // the number of records that fit into byKey before it grows
}

// grow makes byKey four times as large. The table exists only for one replacement, and growing less
// often hashes the keys less often.
func (p *pending) grow() {
	p.room = max(4*len(p.order), 64)
	next := newTable[entry](p.room)
	for _, r := range p.order {
		if r != nil {
			spot, _ := next.reserve(r.view())
			next.publish(spot, r)
		}
	}
	p.byKey = next
}

// put adds a record, or replaces the pending record of its key.
func (p *pending) put(r *record) {
	if len(p.order) >= p.room {
		p.grow()
	}
	spot, earlier := p.byKey.reserve(r.view())
	if earlier != nil {
		r.value.pos = earlier.value.pos
		p.order[r.value.pos] = r
		spot.group.slots[spot.slot].Store(r)
		return
	}
	r.value.pos = uint32(len(p.order)) //nolint:gosec // 4 billion objects do not fit in memory
	p.order = append(p.order, r)
	p.byKey.publish(spot, r)
}

// remove drops the record of a key.
func (p *pending) remove(key Key) {
	if p.byKey == nil {
		return
	}
	if r := p.byKey.remove(key); r != nil {
		p.order[r.value.pos] = nil
	}
}

// get returns the record of a key, or nil.
func (p *pending) get(key Key) *record {
	if p.byKey == nil {
		return nil
	}
	return p.byKey.get(key)
}

func (p *pending) has(key Key) bool { return p.get(key) != nil }

func (p *pending) len() int {
	if p.byKey == nil {
		return 0
	}
	return p.byKey.live
}
