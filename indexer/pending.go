package indexer

// pending holds the objects that a replacement brings until they are stored, by
// their keys and in the order in which the keys came.
//
// Invariant: while r is pending, order[r.value.at] is r.
type pending struct {
	order []*record     // nil where taken out
	byKey *table[entry] // nil while there is none
	room  int           // how many records fit into byKey before it has to grow
}

// grow makes byKey four times as large: most of what it costs is to hash the keys
// again, and it is needed for a short time only.
func (p *pending) grow() {
	p.room = max(4*len(p.order), 64)
	next := newTable[entry](p.room)
	for _, r := range p.order {
		if r != nil {
			spot, _ := next.seek(r.key())
			next.fill(spot, r)
		}
	}
	p.byKey = next
}

// put adds a record, in the place of the one that its key has.
func (p *pending) put(r *record) {
	if len(p.order) >= p.room {
		p.grow()
	}
	spot, earlier := p.byKey.seek(r.key())
	if earlier != nil {
		r.value.at = earlier.value.at
		p.order[r.value.at] = r
		spot.group.slots[spot.slot].Store(r)
		return
	}
	r.value.at = uint32(len(p.order)) //nolint:gosec // 4 billion objects do not fit in memory
	p.order = append(p.order, r)
	p.byKey.fill(spot, r)
}

// remove takes the record of a key out.
func (p *pending) remove(key Key) {
	if p.byKey == nil {
		return
	}
	if r := p.byKey.remove(key); r != nil {
		p.order[r.value.at] = nil
	}
}

func (p *pending) has(key Key) bool { return p.byKey != nil && p.byKey.get(key) != nil }

func (p *pending) len() int {
	if p.byKey == nil {
		return 0
	}
	return p.byKey.live
}
