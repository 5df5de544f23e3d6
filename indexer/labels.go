package indexer

import (
	"slices"
	"sync"
	"time"
	"unsafe"
)

// A label index lists the objects by the values of one label key, for [Indexer.Select]: by
// value, or by namespace and value. It is declared ([Options.LabelIndexes]), or built after
// selectors have asked for its key repeatedly. A built index with almost as many values as
// objects is disabled: it is kept empty, and built anew when there are twice as many objects. One
// that no selector asks for any more is given up.
const (
	// maxLabelIndexes bounds the undeclared indexes in use and, separately, the disabled ones.
	maxLabelIndexes = 32
	// asksToBuild is the number of selectors for a key after which its index is built: building
	// costs about as much as answering one selector without it.
	asksToBuild = 3
	// asksToRebuild is the same number for a key whose index was disabled and then dropped.
	asksToRebuild = 100
	// maxAsked bounds the number of keys counted.
	maxAsked = 256
	// An index with more than tooManyFrom lists, and with more than one list for every two
	// objects, costs more than it saves.
	tooManyFrom = 1024
	// unaskedFor is how long a built index stays without a selector asking for it: so long, and up
	// to twice as long. A write section looks at the clock once in sectionsPerLook.
	unaskedFor      = 10 * time.Minute
	sectionsPerLook = 64
)

// labelIndex returns the index of a label key, or nil. It may build it.
func (w *Writer) labelIndex(key string, f family) *index {
	live := w.x.live.Load()
	ix := live.index(key, f)
	switch {
	case ix != nil && !ix.disabled():
		ix.ask()
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
	switch ix := live.index(key, f); { // another goroutine may have built it meanwhile
	case ix != nil && !ix.disabled():
		return ix
	case ix != nil && live.all.len() < 2*ix.disabledAt, live.undeclared() >= maxLabelIndexes:
		return nil
	}
	ix := w.newLabelIndex(key, f)
	ix.ask()
	w.addIndexes(live.withoutDisabled(key, f), ix)
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

// declare builds the label indexes of [Options.LabelIndexes].
func (w *Writer) declare(keys []string) {
	w.x.writing.Lock()
	defer w.finish()

	for _, key := range keys {
		if live := w.x.live.Load(); live.index(key, byLabel) == nil {
			ix := w.newLabelIndex(key, byLabel)
			ix.declared = true
			w.addIndexes(live.indexes, ix)
		}
	}
}

// undeclared counts the label indexes in use that were not declared.
func (c *contents) undeclared() (n int) {
	for _, ix := range c.indexes {
		if ix.built() && !ix.disabled() {
			n++
		}
	}
	return n
}

// withoutDisabled returns the indexes without the disabled one of this key. If there are
// maxLabelIndexes disabled ones, it leaves out the oldest too.
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

// tooManyValues reports whether the index has too many values to be useful, and is to be
// disabled. A declared index never has.
func (x *index) tooManyValues(objects int) bool {
	return x.built() && x.values.live > tooManyFrom && x.values.live > objects/2
}

func (x *index) disabled() bool { return x.disabledAt > 0 }

// built reports whether the index was built for selectors, and neither added nor declared.
func (x *index) built() bool { return x.family != named && !x.declared }

// ask notes that a selector uses the index.
func (x *index) ask() {
	if !x.asked.Load() { // so that selectors mostly only read
		x.asked.Store(true)
	}
}

// disableTooManyValues empties the label indexes that have too many values. The caller holds
// x.writing.
func (w *Writer) disableTooManyValues() {
	live := w.x.live.Load()
	objects := live.all.len()
	crowded := func(ix *index) bool { return ix.tooManyValues(objects) }
	if !slices.ContainsFunc(live.indexes, crowded) {
		return
	}
	next := w.emptyContents(live.indexes, objects)
	for i, ix := range live.indexes {
		if crowded(ix) {
			next.indexes[i].disabledAt = objects
		}
	}
	w.moveTo(next)
}

// giveUpUnasked drops the built indexes that no selector has asked for since it last looked, at
// least unaskedFor ago. The caller holds x.writing.
func (w *Writer) giveUpUnasked() {
	if w.sections++; w.sections%sectionsPerLook != 0 || time.Since(w.looked) < unaskedFor {
		return
	}
	w.looked = time.Now()
	live := w.x.live.Load()
	kept := slices.DeleteFunc(slices.Clone(live.indexes), func(ix *index) bool {
		unasked := ix.built() && !ix.disabled() && !ix.asked.Swap(false)
		if unasked {
			w.asked.forget(ix.Name, ix.family)
		}
		return unasked
	})
	if len(kept) < len(live.indexes) {
		w.moveTo(w.emptyContents(kept, live.all.len()))
	}
}

// asked counts how many selectors asked for each label key without an index.
type asked struct {
	mu    sync.Mutex
	times map[askedKey]int
}

type askedKey struct {
	key string
	family
}

// often counts a request for a key, and reports whether there have been enough to build its
// index.
func (a *asked) often(key string, f family) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.count(askedKey{key, f}, 1)
	return a.times[askedKey{key, f}] >= asksToBuild
}

// built records that the index of a key was built: if it is dropped later, building it again
// takes asksToRebuild requests.
func (a *asked) built(key string, f family) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.count(askedKey{key, f}, -asksToRebuild)
}

// forget forgets the requests for a key.
func (a *asked) forget(key string, f family) {
	a.mu.Lock()
	defer a.mu.Unlock()

	delete(a.times, askedKey{key, f})
}

// count adds to the number of requests for a key. The caller holds mu.
func (a *asked) count(key askedKey, by int) {
	if a.times == nil || len(a.times) >= maxAsked {
		a.times = make(map[askedKey]int)
	}
	a.times[key] += by
}

// LabelIndex describes an index of a label key, see [Indexer.LabelIndexes].
type LabelIndex struct {
	Key        string
	Namespaced bool // each list is of one namespace
	Declared   bool // in [Options.LabelIndexes], not built on request
	Disabled   bool // almost unique, and empty for now
	Values     int  // the number of lists
	Bytes      int  // of memory, about
}

// LabelIndexes returns the indexes of label keys, declared ones first. It waits for the write
// section in progress.
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

// listBytes is about the memory of an empty list: its node, and its slot in the table.
const listBytes = 120

// bytes is about the memory of a vector: for each place an object and a pointer to its record.
// The caller holds the indexer's mu.
func (v *vector) bytes() (n int) {
	for _, c := range v.chunks {
		n += int(unsafe.Sizeof(chunk{})) + 8*(cap(c.objects.words)+cap(c.owners))
	}
	return n
}

// addIndexes fills new indexes and then shows them to readers, after the indexes in before. The caller
// may leave disabled indexes out of before. The caller holds x.writing, and needs no other
// lock: no reader sees the new lists yet, and only the writer touches the postings in the
// records.
func (w *Writer) addIndexes(before []*index, added ...*index) {
	old := w.x.live.Load()
	for _, ix := range added {
		w.ordered++
		ix.order = w.ordered
	}
	at := uint32(0)
	w.whole(func() {
		for ; int(at) < old.all.len(); at++ {
			w.addPostings(old.all.owner(at), added)
		}
		w.x.live.Store(newContents(old.records, old.all, slices.Concat(before, added)))
	})
}
