package indexer

// pending holds the objects that a replacement brings until they are stored, by
// their keys and in the order in which the keys came.
//
// Invariant: while r is pending, order[r.value.at] is r.
type pending struct {
	order []*record     // nil where taken out
	byKey *table[entry] // nil while there is none
	room  int           // how many records fit into byKey before it has to grow
	// objects are those that the records of order were encoded from, for the index
	// functions; nil where that is not known, and short of what is not known at the end.
	objects []any
}

// grow makes byKey four times as large: most of what it costs is to hash the keys
// again, and it is needed for a short time only.
func (p *pending) grow() {
	p.room = max(4*len(p.order), 64)
	next := newTable[entry](p.room)
	for _, r := range p.order {
		if r != nil {
			spot, _ := next.seek(r.view())
			next.fill(spot, r)
		}
	}
	p.byKey = next
}

// put adds a record, in the place of the one that its key has, with the object that it
// was encoded from; nil if it is not encoded, or that is not known.
func (p *pending) put(r *record, obj any) {
	if len(p.order) >= p.room {
		p.grow()
	}
	spot, earlier := p.byKey.seek(r.view())
	if earlier != nil {
		r.value.at = earlier.value.at
		p.order[r.value.at] = r
		spot.group.slots[spot.slot].Store(r)
		p.setObject(r.value.at, obj)
		return
	}
	r.value.at = uint32(len(p.order)) //nolint:gosec // 4 billion objects do not fit in memory
	p.order = append(p.order, r)
	p.byKey.fill(spot, r)
	p.setObject(r.value.at, obj)
}

func (p *pending) setObject(at uint32, obj any) {
	known := len(p.objects)
	switch {
	case int(at) < known:
		p.objects[at] = obj
	case obj != nil:
		p.objects = append(append(p.objects, make([]any, int(at)-known)...), obj)
	}
}

// remove takes the record of a key out.
func (p *pending) remove(key Key) {
	if p.byKey == nil {
		return
	}
	if r := p.byKey.remove(key); r != nil {
		p.order[r.value.at] = nil
		p.setObject(r.value.at, nil)
	}
}

// object returns the object of the first record, nil if it is not known.
func (p *pending) object() any {
	if len(p.objects) == 0 {
		return nil
	}
	return p.objects[0]
}

// next drops the first record, which is stored. The keys are of no use any more.
func (p *pending) next() {
	p.order = p.order[1:]
	if len(p.objects) > 0 {
		p.objects[0], p.objects = nil, p.objects[1:]
	}
}

func (p *pending) has(key Key) bool { return p.byKey != nil && p.byKey.get(key) != nil }

func (p *pending) len() int {
	if p.byKey == nil {
		return 0
	}
	return p.byKey.live
}
