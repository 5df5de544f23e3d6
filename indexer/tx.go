package indexer

// Tx is a write section in progress, see [Writer.Begin], or a moment between two,
// see [Writer.Freeze]. It returns objects as they are stored, see [Codec].
type Tx struct {
	w       *Writer
	writing bool
}

// Commit ends the write section. It is deferred, so that it runs also where the
// section panics, or an index function ends its goroutine: what was written until
// then stays, each object in whole.
func (tx *Tx) Commit() {
	tx.writing = false
	tx.w.x.mu.Unlock()
	tx.w.finish()
}

// Get returns the object of a key, as the section has left it so far.
func (tx *Tx) Get(key Key) (stored any, ok bool) { return tx.w.Stored(key) }

// Part returns the part that the object of a key came from.
func (tx *Tx) Part(key Key) (part uint16, ok bool) {
	if r := tx.w.x.live.Load().records.get(key); r != nil {
		return r.value.origin.part(), true
	}
	return 0, false
}

// Stamped returns the object of a key, with the stamp that was put with it.
func (tx *Tx) Stamped(key Key) (stored any, stamp uint64, ok bool) {
	if r := tx.w.x.live.Load().records.get(key); r != nil {
		return r.value.stored(), r.value.origin.stamp(), true
	}
	return nil, 0, false
}

// Written is what [Tx.Put] has done.
type Written struct {
	New, Old any    // as they are stored
	OldStamp uint64 // that Old was put with
	Replaced bool   // there was an Old
}

// Put stores an object that came from the given part, in the place of the one of
// before. The lowest [StampBits] of the stamp are kept with the object for the caller,
// who gets them back when the object is replaced without having to look at that.
//
// Where an index function ends the goroutine, Put has done nothing. That index
// function is called on a goroutine of its own from then on, so that Put can be
// called again.
func (tx *Tx) Put(part uint16, key Key, obj any, stamp uint64) Written {
	w := tx.w
	c := w.x.live.Load()
	stored := w.Encode(obj)
	spot, r := c.records.seek(key)
	if r == nil {
		c.insert(w, spot, newRecord(key, stored, originOf(part, stamp)), obj)
		return Written{New: stored}
	}
	values := c.values(w, r, obj)
	w.retain(r)
	r = c.taker(spot, r, stored)
	old, was := c.update(w, r, stored, originOf(part, stamp), values)
	return Written{New: stored, Old: old, OldStamp: was.stamp(), Replaced: true}
}

// Delete takes an object out and returns it.
func (tx *Tx) Delete(key Key) (old any, deleted bool) {
	w := tx.w
	c := w.x.live.Load()
	r := c.records.get(key)
	if r == nil {
		return nil, false
	}
	w.retain(r)
	c.remove(key)
	return r.value.stored(), true
}

// Whole calls f, which writes. Where an index function ends the goroutine in the midst
// of it, f is called again, in the same section, before the goroutine ends: to go on
// from where it was.
func (tx *Tx) Whole(f func()) { tx.w.whole(f) }

// SetVersion sets the resourceVersion that the store is at from now on.
func (tx *Tx) SetVersion(version string) { tx.w.setVersion(version) }

// Snapshot freezes the list of all objects, as they are stored, as the section has left
// it so far.
func (tx *Tx) Snapshot() Snapshot[any] {
	all := tx.w.x.live.Load().all
	if tx.writing { // nobody else may see what is not complete yet
		return all.copied().at(tx.w.x.version.Load(), nil)
	}
	return all.freeze().at(tx.w.x.version.Load(), nil)
}

// Faults returns what index functions have failed on in this section so far.
// [Options.Report] is told of the same after the section.
func (tx *Tx) Faults() []*IndexError { return tx.w.faults }
