package indexer

import (
	"slices"
	"sync"
	"time"
)

// A label index lists the objects by the values of a label key, for [Indexer.Select]: by value, or
// by namespace and value. It is declared ([Options.LabelIndexes]), or built after selectors have
// used its key several times. The writer drops a built index when it has almost as many values as
// objects, until there are twice as many objects, and when selectors stop using it. The store
// remembers the keys without an index that selectors have used most recently.
const (
	// maxLabelIndexes bounds the undeclared indexes.
	maxLabelIndexes = 32
	// asksToBuild is the number of selectors for a key after which the index is built. Building it
	// costs about as much as answering one selector without it.
	asksToBuild = 3
	// maxAsked bounds the number of remembered keys.
	maxAsked = 256
	// An index with more than tooManyFrom lists, and more than one list for every two objects,
	// costs more than it saves.
	tooManyFrom = 1024
	// unaskedFor is how long a built index stays when no selector uses it. It may stay up to twice
	// as long. The writer checks the clock in one of sectionsPerLook write sections.
	unaskedFor      = 10 * time.Minute
	sectionsPerLook = 64
)

// labelIndex returns the index of a label key, or nil. It may build it.
func (w *Writer) labelIndex(key string, f family) *index {
	live := w.x.live.Load()
	if ix := live.index(key, f); ix != nil {
		ix.ask()
		return ix
	}
	if live.undeclared() >= maxLabelIndexes || !w.asked.often(labelKey{key, f}, live.all.len()) {
		return nil
	}
	return w.buildLabelIndex(key, f)
}

func (w *Writer) buildLabelIndex(key string, f family) *index {
	w.x.writing.Lock()
	defer w.finish()

	live := w.x.live.Load()
	if ix := live.index(key, f); ix != nil { // another goroutine has built it meanwhile
		return ix
	}
	if live.undeclared() >= maxLabelIndexes || w.asked.crowded(labelKey{key, f}, live.all.len()) {
		return nil
	}
	ix := w.newLabelIndex(key, f)
	ix.ask()
	w.addIndexes(ix)
	w.asked.forget(labelKey{key, f})
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
			w.addIndexes(ix)
		}
	}
}

// undeclared counts the label indexes that were not declared.
func (c *contents) undeclared() (n int) {
	for _, ix := range c.indexes {
		if ix.built() {
			n++
		}
	}
	return n
}

// tooManyValues reports whether the index has too many values to be useful. A declared index never
// does.
func (x *index) tooManyValues(objects int) bool {
	return x.built() && x.values.live > tooManyFrom && x.values.live > objects/2
}

// built reports whether the index was built for selectors, and neither added nor declared.
func (x *index) built() bool { return x.family != named && !x.declared }

// ask notes that a selector uses the index.
func (x *index) ask() {
	if !x.asked.Load() { // selectors then mostly only read
		x.asked.Store(true)
	}
}

// dropLabelIndexes drops the built indexes that have too many values. From time to time it also
// drops those that no selector has used since it last looked. The caller holds x.writing.
func (w *Writer) dropLabelIndexes() {
	live, look := w.x.live.Load(), w.looksForUnasked()
	objects := live.all.len()
	crowded := func(ix *index) bool { return ix.tooManyValues(objects) }
	if !look && !slices.ContainsFunc(live.indexes, crowded) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(live.indexes), func(ix *index) bool {
		if crowded(ix) {
			w.asked.crowd(labelKey{ix.Name, ix.family}, objects)
			return true
		}
		return look && ix.built() && !ix.asked.Swap(false)
	})
	if len(kept) < len(live.indexes) {
		w.moveTo(w.emptyContents(kept, objects))
	}
}

// looksForUnasked reports whether it is time to look for unused indexes. The caller holds
// x.writing.
func (w *Writer) looksForUnasked() bool {
	if w.sections++; w.sections%sectionsPerLook != 0 || time.Since(w.looked) < unaskedFor {
		return false
	}
	w.looked = time.Now()
	return true
}

// asked remembers the label keys without an index that selectors have used most recently.
type asked struct {
	mu   sync.Mutex
	asks int // of all keys, so far
	keys map[labelKey]*demand
}

// labelKey is what a label index is for.
type labelKey struct {
	key string
	family
}

// demand is the demand for the index of a label key.
type demand struct {
	asks int
	last int // the value of asked.asks at the last selector for this key
	// crowdedAt is the number of objects at which the key's index had too many values, or 0.
	crowdedAt int
}

// often counts a selector for a key. It reports whether there have been enough to build the index
// in a store of so many objects.
func (a *asked) often(k labelKey, objects int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	d := a.demand(k)
	d.asks++
	return d.asks >= asksToBuild && objects >= 2*d.crowdedAt
}

// crowded reports whether the index of a key had too many values and still would.
func (a *asked) crowded(k labelKey, objects int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	d, ok := a.keys[k]
	return ok && objects < 2*d.crowdedAt
}

// crowd records that the index of a key has too many values. The next selector may have it built
// when there are twice as many objects.
func (a *asked) crowd(k labelKey, objects int) {
	a.mu.Lock()
	defer a.mu.Unlock()

	d := a.demand(k)
	d.asks, d.crowdedAt = asksToBuild, objects
}

// forget forgets a key: it has an index.
func (a *asked) forget(k labelKey) {
	a.mu.Lock()
	defer a.mu.Unlock()

	delete(a.keys, k)
}

// demand returns the demand for a key. If there are too many keys, it drops the least recently used
// one. The caller holds mu.
func (a *asked) demand(k labelKey) *demand {
	a.asks++
	d, ok := a.keys[k]
	if !ok {
		if len(a.keys) == maxAsked {
			delete(a.keys, a.leastRecent())
		}
		if a.keys == nil {
			a.keys = make(map[labelKey]*demand)
		}
		d = new(demand)
		a.keys[k] = d
	}
	d.last = a.asks
	return d
}

// leastRecent returns the least recently used key. The caller holds mu.
func (a *asked) leastRecent() (least labelKey) {
	last := a.asks
	for k, d := range a.keys {
		if d.last < last {
			least, last = k, d.last
		}
	}
	return least
}
