package indexer

import (
	"slices"
	"sync"
)

// A label index lists the objects by the values of one label key, for
// [Indexer.Select]: by the value, or by namespace and value. It is declared
// ([Options.LabelIndexes]), or built when selectors have asked for its key
// repeatedly. One of those that turns out to be almost unique is disabled: it is
// kept empty, and built anew when there are twice as many objects.
const (
	// maxLabelIndexes bounds those that were not declared, and apart from them those
	// that are disabled.
	maxLabelIndexes = 32
	// asksToBuild is how often selectors ask for a key until an index of it is built:
	// to build it costs about as much as one of them without it.
	asksToBuild = 3
	// asksToRebuild is how often they ask for one that was disabled and forgotten.
	asksToRebuild = 100
	// maxAsked bounds the keys whose selectors are counted.
	maxAsked = 256
	// Where there are more lists than overgrownFrom, and more than one for two
	// objects, they cost more than they save.
	overgrownFrom = 1024
)

// labelIndex returns the index of a label key, nil where there is none. It may
// build one.
func (w *Writer) labelIndex(key string, f family) *index {
	live := w.x.live.Load()
	ix := live.index(key, f)
	switch {
	case ix != nil && !ix.disabled():
		return ix
	case ix != nil && live.all.len() < 2*ix.disabledAt:
		return nil
	case ix == nil && (live.undeclared() >= maxLabelIndexes || !w.asked.often(key, f)):
		return nil
	}
	return w.buildLabelIndex(key, f)
}

func (w *Writer) buildLabelIndex(key string, f family) *index {
	w.x.writing.Lock()
	defer w.finish()

	live := w.x.live.Load()
	switch ix := live.index(key, f); { // who had the turn before may have asked for the same
	case ix != nil && !ix.disabled():
		return ix
	case ix != nil && live.all.len() < 2*ix.disabledAt, live.undeclared() >= maxLabelIndexes:
		return nil
	}
	ix := w.newLabelIndex(key, f)
	w.add(live.withoutDisabled(key, f), ix)
	w.asked.built(key, f)
	return ix
}

func (w *Writer) newLabelIndex(key string, f family) *index {
	labels := w.x.options.Labels
	return newIndex(Index[any]{Name: key, Append: func(values []string, obj any) []string {
		if value, ok := labels(obj)[key]; ok {
			values = append(values, value)
		}
		return values
	}}, f)
}

// declare builds the indexes of label keys that the user has asked for.
func (w *Writer) declare(keys []string) {
	w.x.writing.Lock()
	defer w.finish()

	for _, key := range keys {
		if live := w.x.live.Load(); live.index(key, byLabel) == nil {
			ix := w.newLabelIndex(key, byLabel)
			ix.declared = true
			w.add(live.indexes, ix)
		}
	}
}

// undeclared is how many label indexes there are that were not declared.
func (c *contents) undeclared() (n int) {
	for _, ix := range c.indexes {
		if ix.family != named && !ix.declared && !ix.disabled() {
			n++
		}
	}
	return n
}

// withoutDisabled returns the indexes, without the disabled one of a key, and
// without the oldest disabled one where there are many.
func (c *contents) withoutDisabled(key string, f family) []*index {
	var kept []*index
	disabled := 0
	for _, ix := range slices.Backward(c.indexes) {
		if ix.disabled() {
			if disabled++; disabled >= maxLabelIndexes || ix.Name == key && ix.family == f {
				continue
			}
		}
		kept = append(kept, ix)
	}
	slices.Reverse(kept)
	return kept
}

// overgrown tells whether an index is to be disabled.
func (x *index) overgrown(objects int) bool {
	return x.family != named && !x.declared && x.values.live > overgrownFrom && x.values.live > objects/2
}

func (x *index) disabled() bool { return x.disabledAt > 0 }

// disableOvergrown empties the label indexes that have turned out to be almost
// unique. The caller holds x.writing.
func (w *Writer) disableOvergrown() {
	live := w.x.live.Load()
	objects := live.all.len()
	overgrown := func(ix *index) bool { return ix.overgrown(objects) }
	if !slices.ContainsFunc(live.indexes, overgrown) {
		return
	}
	next := w.successor(live, objects)
	for i, ix := range live.indexes {
		if overgrown(ix) {
			next.indexes[i].disabledAt = objects
		}
	}
	w.moveTo(next)
}

// asked counts the selectors that ask for label keys without an index.
type asked struct {
	mu    sync.Mutex
	times map[askedKey]int
}

type askedKey struct {
	key string
	family
}

// often tells whether a key has been asked for often enough, this time included.
func (a *asked) often(key string, f family) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.count(askedKey{key, f}, 1)
	return a.times[askedKey{key, f}] >= asksToBuild
}

// built notes that there is an index of a key now.
func (a *asked) built(key string, f family) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.count(askedKey{key, f}, -asksToRebuild)
}

// count adds to how often a key has been asked for. The caller holds mu.
func (a *asked) count(key askedKey, by int) {
	if a.times == nil || len(a.times) >= maxAsked {
		a.times = make(map[askedKey]int)
	}
	a.times[key] += by
}

// LabelIndex is what [Indexer.LabelIndexes] tells of an index of a label key.
type LabelIndex struct {
	Key        string
	Namespaced bool // its lists are of one namespace each
	Declared   bool // in [Options.LabelIndexes], and not built since selectors asked for it
	Disabled   bool // it is almost unique, and empty for now
	Values     int  // that there are lists of
	Bytes      int  // about, of memory
}

// LabelIndexes returns the indexes of label keys that there are, those that were
// declared first. It waits for the write section in progress.
func (x *Indexer[T]) LabelIndexes() []LabelIndex {
	x.mu.Lock()
	defer x.mu.Unlock()

	var all []LabelIndex
	for _, ix := range x.live.Load().indexes {
		if ix.family == named {
			continue
		}
		l := LabelIndex{Key: ix.Name, Namespaced: ix.family == byLabelIn, Declared: ix.declared, Disabled: ix.disabled(), Values: ix.values.live}
		for n := range ix.values.all {
			l.Bytes += listBytes + n.value.bytes()
		}
		all = append(all, l)
	}
	return all
}

// listBytes is about what the list of a value takes beside its objects: its node,
// and its slot in the table.
const listBytes = 120

// bytes is about what a vector takes: an object, and a pointer to its record, for
// each place. The caller holds the indexer's mu.
func (v *vector) bytes() (n int) {
	for _, c := range v.chunks {
		n += 64 + 16*cap(c.objects) + 8*cap(c.owners)
	}
	return n
}

// add fills new indexes, and then shows them to readers behind those of before, some
// of which may be left out if they are disabled. The caller holds x.writing, which is
// all it takes: nobody else looks at the new lists yet, and the places in the records
// are the writer's own.
func (w *Writer) add(before []*index, added ...*index) {
	old := w.x.live.Load()
	at := uint32(0)
	w.whole(func() {
		for ; int(at) < old.all.len(); at++ {
			w.addPosts(old.all.owner(at), added)
		}
		w.x.live.Store(newContents(old.records, old.all, slices.Concat(before, added)))
	})
}
