package indexer

import "slices"

const (
	// maxPostings bounds the label keys that posting lists are kept for, and
	// those that they are kept for by namespace, together.
	maxPostings = 32
	// Where there are more lists than overgrownFrom, and more than one for two
	// objects, they cost more than they save.
	overgrownFrom = 1024
)

// posting returns the posting lists of a label key, built if no selector has
// asked for them before, or nil where none are kept.
func (w *Writer) posting(key string, f family) *index {
	ix := w.x.live.Load().index(key, f)
	if ix == nil {
		ix = w.buildPosting(key, f)
	}
	if ix.refused {
		return nil
	}
	return ix
}

func (w *Writer) buildPosting(key string, f family) *index {
	w.x.writing.Lock()
	defer w.finish()

	live := w.x.live.Load()
	if ix := live.index(key, f); ix != nil {
		return ix
	}
	labels := w.x.options.Labels
	ix := newIndex(Index[any]{Name: key, Append: func(values []string, obj any) []string {
		if value, ok := labels(obj)[key]; ok {
			values = append(values, value)
		}
		return values
	}}, f)
	if len(live.indexes)-len(w.x.Indexes()) >= maxPostings {
		return &index{refused: true} // not kept: a flood of keys leaves nothing behind
	}
	w.add(ix)
	return ix
}

// overgrown tells whether posting lists are to be given up.
func (x *index) overgrown(objects int) bool {
	return x.family != named && x.values.live > overgrownFrom && x.values.live > objects/2
}

// refuseOvergrown empties, for good, the posting lists of label keys that have
// turned out to be almost unique. The caller holds x.writing.
func (w *Writer) refuseOvergrown() {
	live := w.x.live.Load()
	overgrown := func(ix *index) bool { return ix.overgrown(live.all.len()) }
	if !slices.ContainsFunc(live.indexes, overgrown) {
		return
	}
	next := w.successor(live, live.all.len())
	for i, ix := range live.indexes {
		if overgrown(ix) {
			next.indexes[i].refused = true
		}
	}
	w.moveTo(next)
}
