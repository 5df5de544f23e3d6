package indexer

// Tx is a write section in progress, see [Writer.Begin], or a moment between two,
// see [Writer.Freeze].
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
func (tx *Tx) Get(key Key) (any, bool) { return tx.w.x.Get(key) }

// Part returns the part that the object of a key came from.
func (tx *Tx) Part(key Key) (part uint16, ok bool) {
	if r := tx.w.x.live.Load().records.get(key); r != nil {
		return r.value.part, true
	}
	return 0, false
}

// Stamped returns the object of a key, with the stamp that was put with it.
func (tx *Tx) Stamped(key Key) (obj any, stamp uint64, ok bool) {
	if r := tx.w.x.live.Load().records.get(key); r != nil {
		return r.value.object(), r.value.stamp, true
	}
	return nil, 0, false
}

// Put stores an object that came from the given part, and returns the one
// that it replaces. Stamp is kept with the object for the caller, who gets it
// back when the object is replaced without having to look at that.
//
// Where an index function ends the goroutine, Put has done nothing. That index
// function is called on a goroutine of its own from then on, so that Put can be
// called again.
func (tx *Tx) Put(part uint16, key Key, obj any, stamp uint64) (old any, was uint64, replaced bool) {
	w := tx.w
	c := w.x.live.Load()
	spot, r := c.records.seek(key)
	if r == nil {
		c.insert(w, spot, newRecord(key, obj, stamp, part))
		return nil, 0, false
	}
	values := c.values(w, r, obj)
	w.retain(r)
	r = c.taker(spot, r, obj)
	old, was = c.update(w, r, obj, stamp, values)
	r.value.part = part
	return old, was, true
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
	return r.value.object(), true
}

// Whole calls f, which writes. Where an index function ends the goroutine in the midst
// of it, f is called again, in the same section, before the goroutine ends: to go on
// from where it was.
func (tx *Tx) Whole(f func()) { tx.w.whole(f) }

// SetVersion sets the resourceVersion that the store is at from now on.
func (tx *Tx) SetVersion(version string) { tx.w.setVersion(version) }

// Snapshot freezes the list of all objects as the section has left it so far.
func (tx *Tx) Snapshot() Snapshot[any] {
	all := tx.w.x.live.Load().all
	if tx.writing { // nobody else may see what is not complete yet
		return all.copied().at(tx.w.x.Version())
	}
	return all.freeze().at(tx.w.x.Version())
}

// Faults returns what index functions have failed on in this section so far.
// [Options.Report] is told of the same after the section.
func (tx *Tx) Faults() []*IndexError { return tx.w.faults }
