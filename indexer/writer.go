package indexer

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Writer is the write side of an [Indexer], for authors of their own stores. Its methods are safe
// for any goroutine. Writers take turns.
type Writer struct {
	x  *Indexer[any]
	tx Tx

	// Guarded by x.writing.
	mark      uint32        // of the last replacement begun
	ordered   int           // the number of indexes there have ever been
	sections  int           // the number of write sections so far
	looked    time.Time     // when dropLabelIndexes last looked for indexes without demand
	postings  []posting     // scratch
	indexKeys []indexKey    // scratch
	values    []string      // scratch
	failures  []failure     // scratch
	asked     asked         // has a lock of its own
	faults    []*IndexError // of this write section, not reported yet
	taken     int           // how many of the faults Tx.Faults has returned

	unindexed atomic.Pointer[unindexed] // the answer of Unindexed; written at the end of each write section
}

// New returns the write side of a new, empty indexer. The error is [ErrIndexInvalid] for an invalid
// index, and [ErrIndexExists] for a duplicate name.
func New(o Options) (*Writer, error) {
	if o.Labels == nil {
		o.Labels = func(any) map[string]string { return nil }
	}
	if o.Namespace == nil {
		o.Namespace = func(any) string { return "" }
	}
	w := &Writer{x: new(Indexer[any])}
	w.x.options = o
	if o.Codec != nil {
		w.x.decode = o.Codec.Decode
	}
	w.tx.w, w.x.writer = w, w
	w.x.version.Store(new(string))
	w.x.live.Store(newContents(newTable[entry](0), new(vector), nil))
	if err := w.AddIndexes(o.Indexes...); err != nil {
		return nil, err
	}
	w.declare(o.LabelIndexes)
	return w, nil
}

// Indexer returns the read side.
func (w *Writer) Indexer() *Indexer[any] { return w.x }

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
	if verify.On {
		w.check()
	}
	w.noteUnindexed()
	faults, w.faults, w.taken = w.faults[w.taken:], nil, 0
	return faults
}

// Freeze calls do between two write sections. While do runs, no write section changes anything. do
// may take a snapshot. It must be short and must not write.
func (w *Writer) Freeze(do func(tx *Tx)) {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	do(&w.tx)
}

// unindexed describes the objects on which index functions have failed.
type unindexed struct {
	n    int
	some []*IndexError
}

// maxNamed is the number of unindexed objects to name.
const maxNamed = 3

func (w *Writer) noteUnindexed() {
	var now *unindexed
	for _, ix := range w.x.live.Load().indexes {
		if len(ix.unindexed) == 0 {
			continue
		}
		if now == nil {
			now = new(unindexed)
		}
		now.n += len(ix.unindexed)
		for _, e := range ix.unindexed {
			if now.some = append(now.some, e); len(now.some) >= maxNamed {
				break
			}
		}
	}
	w.unindexed.Store(now)
}

// Unindexed counts the objects on which an index function has failed, once for each such index, and
// returns some of the errors. It never waits, and returns the state after the last write section.
func (w *Writer) Unindexed() (n int, some []*IndexError) {
	if u := w.unindexed.Load(); u != nil {
		n, some = u.n, u.some
	}
	return n, some
}

// indexKeysOf returns the index values of a record with an object in its stored form, in the order
// of the indexes, and records failed index functions. The slice is valid until the next call. Call
// it before changing the record, because an index function may end the goroutine.
func (w *Writer) indexKeysOf(indexes []*index, r *record, stored any) []indexKey {
	keys, failures := w.callIndexes(indexes, r, stored)
	w.noteFailures(indexes, r, failures)
	return keys
}

// callIndexes calls the index functions on an object of a record, and returns the index values, in
// the order of the indexes, and the functions that failed. The slices are valid until the next call.
func (w *Writer) callIndexes(indexes []*index, r *record, stored any) ([]indexKey, []failure) {
	w.indexKeys, w.failures = w.indexKeys[:0], w.failures[:0]
	for i := 0; i < len(indexes); {
		i = w.appendIndexKeys(indexes, i, r, stored)
	}
	return w.indexKeys, w.failures
}

// noteFailures records which index functions have failed on the next object of a record.
func (w *Writer) noteFailures(indexes []*index, r *record, failures []failure) {
	for _, ix := range indexes {
		if len(ix.unindexed) > 0 {
			delete(ix.unindexed, r.view())
		}
	}
	for _, f := range failures {
		w.failed(f.index, r.key(), f.err)
	}
}

// failure is an index and the error of its function.
type failure struct {
	index *index
	err   error
}

// appendIndexKeys appends the values for the indexes starting at from, and stops after the first
// index whose function panics. It returns the position to continue from. The end of the write
// section reports a function that ends the goroutine.
func (w *Writer) appendIndexKeys(indexes []*index, from int, r *record, stored any) (next int) {
	next = from
	defer func() {
		if p := recover(); p != nil {
			w.failures = append(w.failures, failure{indexes[next], recovered(p)})
			next++
		} else if next < len(indexes) { // no panic, and not the end: the goroutine is ending
			w.faults = append(w.faults, &IndexError{Index: indexes[next].Name, Key: r.key(), Err: ErrExited})
		}
	}()
	var obj any
	for ; next < len(indexes); next++ {
		ix := indexes[next]
		if obj == nil && ix.readsObject() {
			obj = w.x.decode.object(stored)
		}
		w.values = ix.valuesOf(w.values, r, stored, obj)
		for _, value := range w.values {
			w.indexKeys = append(w.indexKeys, indexKey{ix, value})
		}
	}
	return next
}

func (w *Writer) failed(ix *index, key Key, err error) {
	if ix.unindexed == nil {
		ix.unindexed = make(map[Key]*IndexError)
	}
	e := &IndexError{Index: ix.Name, Key: key, Err: err}
	ix.unindexed[key] = e
	w.faults = append(w.faults, e)
}

func (w *Writer) setVersion(version string) {
	if *w.x.version.Load() != version {
		moved := version // allocated here, and not for an equal one
		w.x.version.Store(&moved)
	}
}
