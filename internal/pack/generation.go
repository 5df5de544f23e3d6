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

// A generation has a dictionary, and new objects are packed against the dictionary of the current generation.
// When it is full and lacks bytes that recur, another generation begins, and a sweep repacks the stored objects
// of earlier ones.
//
// An object without a base refers to one of its generation's roots, depending on where the object is.
//
// Invariant: only objects keep an earlier generation alive, through a root. A generation begins only after a sweep
// has visited all objects stored since the previous one began. An object of an earlier generation may be stored
// later, for example after a long list, and then requests a sweep. A sweep may miss objects while the store
// grows. They keep their generation until the next sweep.
type generation struct {
	fresh      Object // root of objects that have not been stored yet
	stored     Object // root of stored objects
	removed    Object // root of objects that were removed from the store
	kind       *Kind
	dictionary atomic.Pointer[baseData]
}

func newGeneration(k *Kind, data []byte) *generation {
	g := new(generation)
	g.init(k, data)
	return g
}

// init makes g a generation of a kind, with data as the dictionary.
func (g *generation) init(k *Kind, data []byte) {
	g.kind = k
	for _, root := range []*Object{&g.fresh, &g.stored, &g.removed} {
		root.hot = unsafe.Pointer(g)
	}
	g.write(data)
}

// write replaces the dictionary with a longer one. Bytes must keep their positions, because objects refer to them.
func (g *generation) write(data []byte) {
	d := &baseData{data: data}
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

// candidate is an object that the dictionary lacks. Some of the next such objects are compared with it. If
// several are similar, the dictionary should have it.
type candidate struct {
	baseData
	misses, similar int8 // objects that the dictionary lacked since, and those of them that were similar
}

const (
	compareOneIn = 4  // one in this many misses is compared with the candidate
	maxMisses    = 16 // after this many misses another object becomes the candidate
	minSimilar   = 2  // the dictionary learns a candidate with this many similar objects
)

// noteMiss notes an object that the dictionary lacks, and the size of its difference. The dictionary learns a
// candidate that recurs. If the dictionary is full, another generation begins, unless the sweep for the last one
// is not complete.
func (k *Kind) noteMiss(data []byte, size int) {
	c := &k.candidate
	if len(data) > maxBase {
		return
	}
	if c.misses%maxMisses == 0 {
		c.data, c.misses, c.similar = append(c.data[:0], data...), 0, 0
		c.index.build(c.data)
	}
	if c.misses++; c.misses%compareOneIn != 0 {
		return
	}
	if d := k.search.difference(data, &c.baseData); d != nil && 2*len(d) < size {
		c.similar++
	}
	if c.similar < minSimilar {
		return
	}
	if !k.current.learn(c.data) {
		if k.swept < k.due {
			return
		}
		k.begin(slices.Clone(c.data))
	}
	c.misses = 0
}

// begin begins a generation with data as its dictionary.
func (k *Kind) begin(data []byte) {
	k.previous = weak.Make(k.current)
	k.current.dictionary.Store(&baseData{data: k.current.dictionary.Load().data}) // no search needs its index any more
	k.backoff = backoff{}
	k.due = k.requestSweep(newGeneration(k, data))
}

// requestSweep makes a generation the current one, and requests a sweep. The sweep also tries the objects that
// have been stored raw without a search. requestSweep returns the number of the sweep.
func (k *Kind) requestSweep(current *generation) int {
	untried := newGeneration(k, nil)
	k.counting.Lock()
	defer k.counting.Unlock()

	k.current, k.untried = current, untried
	k.requested++
	return k.requested
}

// sweepFor bounds the time of one call of Sweep.
const sweepFor = 100 * time.Millisecond

// Sweep repacks stored objects that use an earlier dictionary or have not been tried. The store's owner calls it
// once a second. If there is work, Sweep calls scan. scan calls visit for stored objects, from where the last
// scan stopped, until visit returns false. scan reports whether it has reached the end of the store. Readers get
// equal objects before, during and after a sweep.
func (k *Kind) Sweep(scan func(visit func(o *Object) bool) (last bool)) {
	if !k.beginSweep() {
		return
	}
	began := time.Now()
	if scan(func(o *Object) bool {
		k.repack(o)
		return time.Since(began) < sweepFor
	}) {
		k.packing.Lock()
		defer k.packing.Unlock()
		k.swept = k.sweeping
	}
}

// replace moves an object from generation g to the current one, with a new blob for the same bytes.
func (k *Kind) replace(o *Object, g *generation, was view, blob *uint32, data []byte) {
	raw := was.blob
	if was.header()&rawBit == 0 {
		raw = newPacked(nil, data, was.form())
	}
	k.counting.Lock()
	defer k.counting.Unlock()

	size := o.Size()
	switch o.base.Load() {
	case &g.fresh:
		o.change(&k.current.fresh, raw, blob)
	case &g.stored:
		o.change(&k.current.stored, raw, blob)
		k.stored.Add(o.Size() - size)
	case &g.removed:
		o.change(&k.current.removed, raw, blob)
		k.countRemoved(o, o.Size()-size)
	}
}

// beginSweep begins the next sweep if the last one is complete. It reports whether a sweep is in progress.
func (k *Kind) beginSweep() bool {
	k.packing.Lock()
	defer k.packing.Unlock()

	if k.sweeping == k.swept {
		k.counting.Lock()
		defer k.counting.Unlock()
		k.sweeping = k.requested
	}
	return k.sweeping != k.swept
}

// repack packs an object against the current dictionary. If the object has a base, repack packs the base
// instead: it still unpacks to the same bytes, so the object stays valid. Bytes that the earlier dictionary had
// probably recur, so the current dictionary learns them.
func (k *Kind) repack(o *Object) {
	k.packing.Lock()
	defer k.packing.Unlock()

	if base := o.base.Load(); base.base.Load() != nil {
		o = base
	}
	g := o.base.Load().generation()
	if g == k.current || o.IsPinned() {
		return
	}
	s := k.scratches.Get().(*scratch)
	defer k.scratches.Put(s)

	was := o.view()
	data, err := was.unpack(s.data[:0], nil)
	if s.data = data; err != nil {
		return // the next reader reports it
	}
	d := k.search.difference(data, k.current.dictionary.Load())
	k.replace(o, g, was, newPacked(d, data, was.form()), data)
	if isPoor(d, data, dictionaryRatio) {
		recurs := was.header()&rawBit == 0 && !isPoor(was.content(), data, dictionaryRatio)
		if !recurs || !k.current.learn(data) {
			k.noteMiss(data, int(o.view().header()>>lengthBits))
		}
	}
	if verify.On {
		unpacked, err := o.unpack(nil, nil)
		verify.That(err == nil && bytes.Equal(unpacked, data), "%d bytes were repacked, and %d different bytes unpacked: %v", len(data), len(unpacked), err)
	}
}
