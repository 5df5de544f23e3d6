package indexer

const (
	// maxPostings bounds the label keys that posting lists are kept for.
	maxPostings = 32
	// Of a label key with more values than overgrownFrom, and more than one
	// for two objects, the lists cost more than they save.
	overgrownFrom = 1024
)

// posting returns the index of a label key, built if no selector has asked
// for the key before, or nil where none is kept.
func (w *Writer[T]) posting(key string) *index[T] {
	ix := w.x.live.Load().index(key, true)
	if ix == nil {
		ix = w.buildPosting(key)
	}
	if ix.refused {
		return nil
	}
	return ix
}

func (w *Writer[T]) buildPosting(key string) *index[T] {
	w.x.writing.Lock()
	defer w.finish()

	live := w.x.live.Load()
	if ix := live.index(key, true); ix != nil {
		return ix
	}
	labels := w.x.options.Labels
	ix := newIndex(Index[T]{Name: key, Append: func(values []string, obj T) []string {
		if value, ok := labels(obj)[key]; ok {
			values = append(values, value)
		}
		return values
	}}, true)
	if len(live.indexes)-len(w.x.Indexes()) >= maxPostings {
		return &index[T]{refused: true} // not kept: a flood of keys leaves nothing behind
	}
	w.add(ix)
	return ix
}

// refuseOvergrown empties, for good, the posting lists of label keys that have
// turned out to be almost unique. The caller holds x.writing.
func (w *Writer[T]) refuseOvergrown() {
	live := w.x.live.Load()
	overgrown := false
	for _, ix := range live.indexes {
		if ix.label && ix.values.live > overgrownFrom && ix.values.live > live.all.len()/2 {
			overgrown = true
		}
	}
	if !overgrown {
		return
	}
	next := w.successor(live, live.all.len())
	for i, ix := range live.indexes {
		if ix.label && ix.values.live > overgrownFrom && ix.values.live > live.all.len()/2 {
			next.indexes[i].refused = true
		}
	}
	for r := range live.all.records {
		next.adopt(w, r)
	}
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	w.x.live.Store(next)
}
