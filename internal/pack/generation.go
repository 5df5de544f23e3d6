package pack

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// A generation has a dictionary. Objects are packed against the kind's present one. When that is full and lacks
// what recurs, another begins, and a sweep packs the stored objects of the earlier one anew.
//
// Invariant: only objects keep an earlier generation alive, through a root. A generation begins only after a sweep
// has visited the stored objects since the one before began. An object of an earlier one that is stored later, such as
// those of a long list, asks for a sweep. A sweep may miss objects while the store grows: they keep their generation
// until the next sweep.
type generation struct {
	root       Object // the base of what is a difference to the dictionary and has not been stored yet
	stored     Object // the base of such objects while the store has them
	left       Object // the base of such objects after they have left the store
	kind       *Kind
	dictionary atomic.Pointer[openBase]
}

func newGeneration(k *Kind, data []byte) *generation {
	g := new(generation)
	g.init(k, data)
	return g
}

// init makes g a generation of a kind, with the bytes of an object as the dictionary.
func (g *generation) init(k *Kind, data []byte) {
	g.kind = k
	for _, root := range []*Object{&g.root, &g.stored, &g.left} {
		root.hot = unsafe.Pointer(g)
	}
	g.write(data)
}

// write replaces the dictionary by a longer one. What it has stays where it is, since objects refer to it.
func (g *generation) write(data []byte) {
	d := &openBase{data: data}
	d.index.build(data)
	g.dictionary.Store(d)
}

// learn appends an object to the dictionary. It returns false if there is no room.
func (g *generation) learn(data []byte) bool {
	now := g.dictionary.Load().data
	if len(now)+len(data) > maxBase {
		return false
	}
	g.write(slices.Concat(now, data))
	return true
}

// lacked is one of the objects that the dictionary lacks. Some of those that follow are compared with it: if
// several are like it, it recurs.
type lacked struct {
	openBase
	seen, like int8 // objects that the dictionary lacked as well, and those that were like this one
}

const (
	lackedOneIn = 4  // of how many objects one is compared
	mostSeen    = 16 // after so many, another object takes the place
	fewestLike  = 2  // that make an object one that recurs
)

// lacks notes an object that the dictionary lacks, with the bytes that it takes. The dictionary learns what recurs.
// If it has no room, a generation begins, unless stored objects of the earlier one are still to be swept.
func (k *Kind) lacks(data []byte, size int) {
	l := &k.lacked
	if len(data) > maxBase {
		return
	}
	if l.seen%mostSeen == 0 {
		l.data, l.seen, l.like = append(l.data[:0], data...), 0, 0
		l.index.build(l.data)
	}
	if l.seen++; l.seen%lackedOneIn != 0 {
		return
	}
	if d := k.search.difference(data, &l.openBase); d != nil && 2*len(d) < size {
		l.like++
	}
	if l.like < fewestLike {
		return
	}
	if !k.now.learn(l.data) {
		if k.swept < k.due {
			return
		}
		k.begin(slices.Clone(l.data))
	}
	l.seen = 0
}

// begin begins a generation with an object as its dictionary.
func (k *Kind) begin(data []byte) {
	k.before = weak.Make(k.now)
	k.now.dictionary.Store(&openBase{data: k.now.dictionary.Load().data}) // nobody searches it any more
	k.pace = pace{}
	k.due = k.askForSweep(newGeneration(k, data))
}

// askForSweep makes a generation the present one, and asks for a sweep, which also tries the objects that were kept as
// they are so far. It returns the number of the sweep.
func (k *Kind) askForSweep(now *generation) int {
	none := newGeneration(k, nil)
	k.counting.Lock()
	defer k.counting.Unlock()

	k.now, k.none = now, none
	k.toSweep++
	return k.toSweep
}

// sweepFor is the time that a sweep takes at once.
const sweepFor = 100 * time.Millisecond

// Sweep packs stored objects anew, if they were packed against an earlier dictionary, or kept as they are without
// having been tried. The store's owner calls it once a second. If there is something to do, it calls scan, which
// visits the stored objects that follow those of the last call, until visit returns false; scan reports whether it
// has visited the last one. Readers get equal objects before, meanwhile and afterwards.
func (k *Kind) Sweep(scan func(visit func(o *Object) bool) (last bool)) {
	if !k.beginSweep() {
		return
	}
	began := time.Now()
	if scan(func(o *Object) bool {
		k.renew(o)
		return time.Since(began) < sweepFor
	}) {
		k.packing.Lock()
		defer k.packing.Unlock()
		k.swept = k.sweeping
	}
}

// replace replaces the blob of an object of an earlier generation by one of the present generation, for the same bytes.
func (k *Kind) replace(o *Object, g *generation, was view, blob *uint32, data []byte) {
	raw := was.blob
	if was.header()&rawBit == 0 {
		raw = newPacked(nil, data, was.form())
	}
	k.counting.Lock()
	defer k.counting.Unlock()

	size := o.Size()
	switch o.base.Load() {
	case &g.root:
		o.change(&k.now.root, raw, blob)
	case &g.stored:
		o.change(&k.now.stored, raw, blob)
		k.stored.Add(o.Size() - size)
	case &g.left:
		o.change(&k.now.left, raw, blob)
		k.hold(o, o.Size()-size)
	}
}

// beginSweep reports whether something is to be swept.
func (k *Kind) beginSweep() bool {
	k.packing.Lock()
	defer k.packing.Unlock()

	if k.sweeping == k.swept {
		k.counting.Lock()
		defer k.counting.Unlock()
		k.sweeping = k.toSweep
	}
	return k.sweeping != k.swept
}

// renew packs an object anew against the present dictionary, or its base, if they do not refer to that. An object
// that has a base still is a difference to it: the base undoes to the same bytes as before. What the earlier
// dictionary had recurs.
func (k *Kind) renew(o *Object) {
	k.packing.Lock()
	defer k.packing.Unlock()

	if base := o.base.Load(); base.base.Load() != nil {
		o = base
	}
	g := o.base.Load().generation()
	if g == k.now || o.IsPinned() {
		return
	}
	s := k.scratches.Get().(*scratch)
	defer k.scratches.Put(s)

	was := o.view()
	data, err := was.undo(s.data[:0], nil)
	if s.data = data; err != nil {
		return // whoever reads it reports it
	}
	d := k.search.difference(data, k.now.dictionary.Load())
	k.replace(o, g, was, newPacked(d, data, was.form()), data)
	if poor(d, data, dictionaryPart) {
		recurs := was.header()&rawBit == 0 && !poor(was.content(), data, dictionaryPart)
		if !recurs || !k.now.learn(data) {
			k.lacks(data, int(o.view().header()>>lengthBits))
		}
	}
	if verify.On {
		undone, err := o.undo(nil, nil)
		verify.That(err == nil && bytes.Equal(undone, data), "%d bytes are packed anew as %d others: %v", len(data), len(undone), err)
	}
}
