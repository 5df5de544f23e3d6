package indexer

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Writer is the write side of an [Indexer]. Its methods are safe for any
// goroutine; the writers take turns.
type Writer struct {
	x  *Indexer[any]
	tx Tx

	// Guarded by x.writing.
	mark     uint32              // the last full state that was begun
	staged   map[uint32]*Staging // the full states under way, by their marks
	posts    []post              // scratch
	wanted   []wanted            // scratch
	values   []string            // scratch
	failures []failure           // scratch
	exits    int                 // how often an index function has ended its goroutine
	asked    asked               // its own lock
	faults   []*IndexError       // of this write section, to be reported after it

	broken atomic.Int64 // what Broken returns; written at the end of each write section
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

// Begin begins a write section, which [Tx.Commit] ends: what is written in it
// becomes visible to lists at once then (to Get one by one). It must be short, since
// lists wait for it, and must not call the indexer. Other writers wait.
//
//	tx := w.Begin()
//	defer tx.Commit()
func (w *Writer) Begin() *Tx {
	w.x.writing.Lock()
	w.x.mu.Lock()
	w.tx.writing = true
	return &w.tx
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

	w.disableOvergrown()
	if verify.On {
		w.check()
	}
	n := 0
	for _, ix := range w.x.live.Load().indexes {
		n += len(ix.broken)
	}
	w.broken.Store(int64(n))
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

// Broken returns for how many objects an index function has failed. It never waits: while
// something is written that counts as before.
func (w *Writer) Broken() int { return int(w.broken.Load()) }

// valuesIn returns the values of a record with an object in some indexes, in
// their order, valid until the next call, and keeps book of failures. It may end
// the goroutine, so it is called before anything of the record is written; it has
// kept no book then.
func (w *Writer) valuesIn(indexes []*index, r *record, obj any) []wanted {
	w.wanted, w.failures = w.wanted[:0], w.failures[:0]
	for i := 0; i < len(indexes); {
		i = w.gather(indexes, i, r, obj)
	}
	for _, ix := range indexes {
		if len(ix.broken) > 0 {
			delete(ix.broken, r.view())
		}
	}
	for _, f := range w.failures {
		w.failed(f.index, r.key(), f.err)
	}
	return w.wanted
}

// whole calls f. Where an index function ends the goroutine in the midst of it, f is
// called again before the goroutine ends, to go on from where it was.
func (w *Writer) whole(f func()) {
	exits := w.exits
	defer func() {
		if w.exits != exits {
			w.whole(f)
		}
	}()
	f()
}

// failure is what an index function has failed with.
type failure struct {
	index *index
	err   error
}

// gather appends the values in the indexes from one on, up to one that fails.
// It returns the place after that.
func (w *Writer) gather(indexes []*index, from int, r *record, obj any) (next int) {
	next = from
	defer func() {
		if p := recover(); p != nil {
			w.failures = append(w.failures, failure{indexes[next], recovered(p)})
			next++
		} else if next < len(indexes) { // neither a panic nor the end
			indexes[next].apart = true
			w.exits++
		}
	}()
	for ; next < len(indexes); next++ {
		ix := indexes[next]
		switch {
		case ix.disabled():
			continue
		case ix.apart:
			w.values = w.valuesApart(ix, r, obj)
		default:
			w.values = ix.valuesOf(w.values, r, obj)
		}
		for _, value := range w.values {
			w.wanted = append(w.wanted, wanted{ix, value})
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

func (w *Writer) setVersion(version string) {
	if *w.x.version.Load() != version {
		w.x.version.Store(&version)
	}
}
