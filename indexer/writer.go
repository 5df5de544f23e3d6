package indexer

import (
	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Writer is the write side of an [Indexer]. Its methods are safe for any
// goroutine; the writers take turns.
type Writer struct {
	x  *Indexer[any]
	tx Tx

	// Guarded by x.writing.
	mark   uint32        // the last full state that was begun
	staged []*Staging    // the full states under way
	posts  []post        // scratch
	wanted []wanted      // scratch
	values []string      // scratch
	faults []*IndexError // of this write section, to be reported after it
	exited bool          // an index function has ended the goroutine of this write section
}

// New returns the write side of a new, empty indexer. It returns
// [ErrIndexInvalid] or [ErrIndexExists] where the indexes do not do.
func New(o Options) (*Writer, error) {
	if o.Labels == nil {
		o.Labels = func(any) map[string]string { return nil }
	}
	if o.Namespace == nil {
		o.Namespace = func(any) string { return "" }
	}
	w := &Writer{x: new(Indexer[any])}
	w.x.options = o
	w.tx.w, w.x.writer = w, w
	w.x.version.Store(new(string))
	w.x.live.Store(newContents(newTable[entry](0), new(vector), nil))
	if err := w.AddIndexes(o.Indexes...); err != nil {
		return nil, err
	}
	return w, nil
}

// Indexer returns the read side.
func (w *Writer) Indexer() *Indexer[any] { return w.x }

// Update runs one write section: what it does through tx becomes visible to
// lists at once when it returns (to Get one by one). It must be short, since
// lists wait for it, must not keep tx, and must not call the indexer. Where it
// panics, what it has done until then stays. Where an index function ends the
// goroutine in the midst of it, section is called once more before the goroutine
// ends, to do all of it again or what is left.
func (w *Writer) Update(section func(tx *Tx)) {
	w.x.writing.Lock()
	defer w.finish()
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	w.run(section)
}

// run runs a section to its end. A Put or Set whose index function ends the
// goroutine has done nothing. What is left is done before the goroutine ends, with
// the index functions on other ones.
func (w *Writer) run(section func(tx *Tx)) {
	defer func() {
		if w.exited {
			defer func() { w.exited = false }()
			section(&w.tx)
		}
	}()
	section(&w.tx)
}

// finish ends a write section: it lets the next writer in, and reports.
func (w *Writer) finish() {
	faults := w.unlock()
	if w.x.options.Report == nil {
		return
	}
	for _, f := range faults {
		w.x.options.Report(f)
	}
}

// unlock lets the next writer in. It returns what is to be reported.
func (w *Writer) unlock() (faults []*IndexError) {
	defer w.x.writing.Unlock()

	w.refuseOvergrown()
	if verify.On {
		w.check()
	}
	faults, w.faults = w.faults, nil
	return faults
}

// Freeze calls do between two write sections: whatever do looks at that is
// written only in write sections belongs to one moment. It may take a snapshot
// of that moment, must be short, and must not write.
func (w *Writer) Freeze(do func(tx *Tx)) {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	do(&w.tx)
}

// Broken returns for how many objects an index function has failed.
func (w *Writer) Broken() int {
	w.x.writing.Lock()
	defer w.x.writing.Unlock()

	n := 0
	for _, ix := range w.x.live.Load().indexes {
		n += len(ix.broken)
	}
	return n
}

// valuesIn returns the values of a record with an object in some indexes, in
// their order, valid until the next call, and keeps book of failures. It may end
// the goroutine, so it is called before anything of the record is written.
func (w *Writer) valuesIn(indexes []*index, r *record, obj any) []wanted {
	w.wanted = w.wanted[:0]
	for i := 0; i < len(indexes); {
		i = w.gather(indexes, i, r, obj)
	}
	return w.wanted
}

// gather appends the values in the indexes from one on, up to one that fails.
// It returns the place after that.
func (w *Writer) gather(indexes []*index, from int, r *record, obj any) (next int) {
	next = from
	defer func() {
		if p := recover(); p != nil {
			w.failed(indexes[next], r.key(), recovered(p))
			next++
		} else if next < len(indexes) { // neither a panic nor the end
			w.exited = true
		}
	}()
	for ; next < len(indexes); next++ {
		ix := indexes[next]
		if ix.refused {
			continue
		}
		if w.exited {
			w.values = w.valuesApart(ix, r, obj)
		} else {
			w.values = ix.valuesOf(w.values, r, obj)
		}
		for _, value := range w.values {
			w.wanted = append(w.wanted, wanted{ix, value})
		}
		if len(ix.broken) > 0 {
			delete(ix.broken, r.key())
		}
	}
	return next
}

// valuesApart is index.valuesOf on a goroutine of its own. It panics, too, where
// the index function ends that.
func (w *Writer) valuesApart(ix *index, r *record, obj any) (values []string) {
	var p any
	returned := goexit.Apart(func() {
		defer func() { p = recover() }()
		values = ix.valuesOf(w.values, r, obj)
	})
	switch {
	case !returned:
		panic(ErrGoexit)
	case p != nil:
		panic(p)
	}
	return values
}

func (w *Writer) failed(ix *index, key Key, err error) {
	if ix.broken == nil {
		ix.broken = make(map[Key]struct{})
	}
	ix.broken[key] = struct{}{}
	w.faults = append(w.faults, &IndexError{Index: ix.Name, Key: key, Err: err})
}

// Tx is a write section in progress, see [Writer.Update].
type Tx struct{ w *Writer }

// Get returns the object of a key, as the section has left it so far.
func (tx *Tx) Get(key Key) (any, bool) { return tx.w.x.Get(key) }

// Put stores an object that came from the given part, and returns the one
// that it replaces. Stamp is kept with the object for the caller, who gets it
// back when the object is replaced without having to look at that; zero is
// what objects have that were stored by hand.
func (tx *Tx) Put(part uint16, key Key, obj any, stamp uint64) (old any, was uint64, replaced bool) {
	c := tx.w.x.live.Load()
	p, r := c.records.seek(key)
	if r == nil {
		c.insert(tx.w, p, newRecord(key, &obj, stamp, part))
		return old, 0, false
	}
	old, was = c.update(tx.w, r, &obj, stamp, c.values(tx.w, r, obj))
	r.value.settle(part, 0)
	return old, was, true
}

// Delete takes an object out and returns it.
func (tx *Tx) Delete(key Key) (old any, deleted bool) {
	if was := tx.w.x.live.Load().remove(key); was != nil {
		return was.value.object(), true
	}
	return old, false
}

// Set stores an object by hand: it stays of the part that the one it replaces
// came from, [Options].ByHand if there is none, and full states under way are not
// misled.
func (tx *Tx) Set(key Key, obj any) {
	tx.w.overwrite()
	c := tx.w.x.live.Load()
	p, r := c.records.seek(key)
	if r == nil {
		c.insert(tx.w, p, newRecord(key, &obj, 0, tx.w.x.options.ByHand))
		return
	}
	tx.w.spare(r)
	c.update(tx.w, r, &obj, 0, c.values(tx.w, r, obj))
}

// Unset takes an object out by hand.
func (tx *Tx) Unset(key Key) {
	if was := tx.w.x.live.Load().remove(key); was != nil {
		tx.w.spare(was)
	}
}

// Part returns the part that the object of a key came from.
func (tx *Tx) Part(key Key) (part uint16, ok bool) {
	if r := tx.w.x.live.Load().records.get(key); r != nil {
		return r.value.part, true
	}
	return 0, false
}

// Snapshot freezes the list of all objects as the section has left it so far.
func (tx *Tx) Snapshot() Snapshot[any] {
	return tx.w.x.live.Load().all.freeze().at(tx.w.x.Version())
}

// SetVersion sets the resourceVersion that the store is at from now on.
func (tx *Tx) SetVersion(version string) { tx.w.setVersion(version) }

func (w *Writer) setVersion(version string) {
	if *w.x.version.Load() != version {
		w.x.version.Store(&version)
	}
}
