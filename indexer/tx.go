package indexer

import "github.com/tidemark-k8s/tidemark/internal/verify"

// Tx is a write section of a [Writer] in progress, for authors of their own stores. [Writer.Begin]
// begins a section. [Writer.Freeze] passes a Tx to a function between two sections. A Tx returns
// objects in their stored form, see [Codec].
type Tx struct {
	w       *Writer
	writing bool
}

// Begin begins a write section. [Tx.Commit] ends it. Lists show all its writes together at the end.
// Get shows each write immediately. Keep the section short, because lists and other writers wait
// for it. It must not call the indexer.
//
//	tx := w.Begin()
//	defer tx.Commit()
func (w *Writer) Begin() *Tx {
	w.x.writing.Lock()
	w.x.mu.Lock()
	w.tx.writing = true
	return &w.tx
}

// Freeze calls do between two write sections. While do runs, no write section changes anything. do
// may take a snapshot. It must be short and must not write.
func (w *Writer) Freeze(do func(tx *Tx)) {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	do(&w.tx)
}

// Commit ends the write section. Defer it, so that it also runs if the section panics or an index
// function ends the goroutine. All completed writes stay, and no write is half done.
func (tx *Tx) Commit() {
	tx.writing = false
	tx.w.x.mu.Unlock()
	tx.w.finish()
}

// finish ends a write section: it lets the next writer in, and then reports failed index
// functions.
func (w *Writer) finish() {
	faults := w.unlock()
	if w.x.options.Report == nil {
		return
	}
	for _, f := range faults {
		w.x.options.Report(f)
	}
}

// unlock lets the next writer in. It returns the failures to report.
func (w *Writer) unlock() (faults []*IndexError) {
	defer w.x.writing.Unlock()

	w.dropLabelIndexes()
	w.emptyScratch()
	if verify.On {
		w.check()
	}
	w.noteUnindexed()
	faults, w.faults, w.taken = w.faults[w.taken:], nil, 0
	return faults
}

// Stored is an object of a store: in its stored form, with the number of its source and its stamp.
type Stored struct {
	Object any
	Source uint16
	Stamp  uint64
}

// Get returns what is stored under a key, with the section's own writes.
func (tx *Tx) Get(key Key) (stored Stored, ok bool) {
	if r := tx.w.x.live.Load().records.get(key); r != nil {
		return r.value.asStored(), true
	}
	return Stored{}, false
}

// Put stores an object of a source, given by its number, in place of the key's earlier object. It
// returns the object in its stored form. The object may already be in its stored form. The store
// keeps the lowest [StampBits] of the stamp with the object. Put also returns the replaced object
// and its stamp, without reading that object.
//
// If an index function ends the goroutine, Put changes nothing.
func (tx *Tx) Put(source uint16, key Key, obj any, stamp uint64) (put any, old Stored, replaced bool) {
	w, stored := tx.w, tx.w.Encode(obj)
	c := w.x.live.Load()
	spot, r := c.records.reserve(key)
	if r == nil {
		r = newRecord(key, stored, originOf(source, stamp))
		c.insert(w, spot, r, w.indexKeysOf(c.indexes, r, stored))
		return stored, Stored{}, false
	}
	values := c.values(w, r, stored)
	var was origin
	if from := originOf(source, stamp); r.value.slot.takes(stored) {
		old.Object, was = c.update(w, r, stored, from, values)
	} else {
		old.Object, was = c.replace(w, spot, newRecord(r.view(), stored, from), r, stored, from, values)
	}
	old.Source, old.Stamp = was.source(), was.stamp()
	return stored, old, true
}

// Delete removes an object and returns it.
func (tx *Tx) Delete(key Key) (old any, deleted bool) {
	w := tx.w
	c := w.x.live.Load()
	r := c.records.get(key)
	if r == nil {
		return nil, false
	}
	c.remove(r)
	w.count(nil, r.value.stored())
	return r.value.stored(), true
}

// SetVersion sets the store's resourceVersion.
func (tx *Tx) SetVersion(version string) { tx.w.setVersion(version) }

// Snapshot returns the list of all objects in their stored form, with the section's own writes.
func (tx *Tx) Snapshot() Snapshot[any] {
	all := tx.w.x.live.Load().all
	if tx.writing { // other readers must not see an incomplete section
		return all.snapshotUncached().at(tx.w.x.version.Load(), nil)
	}
	return all.snapshot().at(tx.w.x.version.Load(), nil)
}

// Faults returns the failures of index functions in this section so far. The caller reports them,
// because [Options.Report] does not get them.
func (tx *Tx) Faults() []*IndexError {
	tx.w.taken = len(tx.w.faults)
	return tx.w.faults
}
