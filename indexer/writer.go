package indexer

import (
	"sync/atomic"
	"time"
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

// emptyScratch empties the scratch slices and clears their entries, which would keep the index
// values of deleted objects, and replaced contents, in memory.
func (w *Writer) emptyScratch() {
	clear(w.indexKeys)
	clear(w.failures)
	w.indexKeys, w.failures = w.indexKeys[:0], w.failures[:0]
}

// setPostings replaces a record's postings with a copy of the scratch slice, which it empties as
// emptyScratch does.
func (w *Writer) setPostings(r *record, postings []posting) {
	r.value.setPostings(postings)
	clear(postings)
	w.postings = postings[:0]
}

// Indexer returns the read side.
func (w *Writer) Indexer() *Indexer[any] { return w.x }

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

func (w *Writer) setVersion(version string) {
	if *w.x.version.Load() != version {
		moved := version // allocated here, and not for an equal one
		w.x.version.Store(&moved)
	}
}
