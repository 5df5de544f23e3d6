package pack

import (
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"
)

// A generation has a dictionary, and new objects are packed against the dictionary of the current generation.
// When it is full and lacks bytes that recur, another generation begins. Objects of earlier ones stay as they are.
//
// Invariant: only objects keep an earlier generation alive, through its root.
type generation struct {
	root       Object // the base of objects without a base of their own
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
	g.kind, g.root.hot = k, unsafe.Pointer(g)
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

	maxEarlier = 1 << 20 // bytes of earlier dictionaries
)

// noteMiss notes an object that the dictionary lacks, and the size of its difference. The dictionary learns a
// candidate that recurs. If the dictionary is full, another generation begins, unless the earlier dictionaries
// take too much.
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
		if k.earlier.Load() > maxEarlier-maxBase {
			return
		}
		k.begin(slices.Clone(c.data))
	}
	c.misses = 0
}

// begin begins a generation with data as its dictionary.
func (k *Kind) begin(data []byte) {
	earlier := k.current.dictionary.Load().data
	k.current.dictionary.Store(&baseData{data: earlier}) // no search needs its index any more
	countUntilGarbage(k.current, k.earlier, int64(len(earlier)))
	k.current = newGeneration(k, data)
	k.backoff = backoff{}
}

// countUntilGarbage counts bytes until an object or a generation is garbage-collected.
func countUntilGarbage[T any](o *T, count *atomic.Int64, bytes int64) {
	count.Add(bytes)
	runtime.AddCleanup(o, func(bytes int64) { count.Add(-bytes) }, bytes)
}
