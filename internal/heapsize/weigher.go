package heapsize

import (
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// mostNotes is the largest number of recorded blocks of a stratum.
const mostNotes = 1 << 14

// large is the size from which blocks are counted separately: few of them may be most of the
// memory.
const large = 2048

// Weigher adds up blocks of memory. The zero value is ready to use.
type Weigher struct {
	small, big stratum
	left       int // how many blocks of an object may still be met
	depth      int // of the value that is looked at, in its object
}

// mostBlocks and deepest bound the walk through one object. They end a walk through values in a
// circle.
const (
	mostBlocks = 1 << 17
	deepest    = 200
)

// stratum counts blocks of similar sizes. It records a block if the lowest shift bits of its
// address's hash are zero.
type stratum struct {
	noted map[uintptr]uint32
	sum   int64 // of the noted ones
	shift uint
}

// Add adds an object, with everything that it refers to.
func (w *Weigher) Add(obj any) {
	if obj == nil {
		return
	}
	w.left = mostBlocks
	w.inside(unsafe.Pointer(&obj), anyType)
}

// Text adds the bytes of a string.
func (w *Weigher) Text(s string) {
	w.left = mostBlocks
	w.text(unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s)))
}

var anyType = gotype.Of(reflect.TypeFor[any]())

// Bytes returns the estimated bytes of everything added so far.
func (w *Weigher) Bytes() int64 { return w.small.estimate() + w.big.estimate() }

// block counts a block of memory, once.
func (w *Weigher) block(at unsafe.Pointer, size uintptr) {
	w.count(at, allocated(size))
}

// text counts the bytes of a string, once. Go's allocator packs short ones.
func (w *Weigher) text(at unsafe.Pointer, size uintptr) {
	if size > 8 {
		size = allocated(size)
	}
	w.count(at, size)
}

func (w *Weigher) count(at unsafe.Pointer, size uintptr) {
	if w.left--; at == nil || size == 0 {
		return
	}
	if size < large {
		w.small.note(uintptr(at), size)
	} else {
		w.big.note(uintptr(at), size)
	}
}

func (s *stratum) note(at, size uintptr) {
	if !s.counts(at) {
		return
	}
	if _, known := s.noted[at]; known {
		return
	}
	if s.noted == nil {
		s.noted = make(map[uintptr]uint32)
	}
	s.noted[at] = uint32(min(size, 1<<32-1)) //nolint:gosec // bounded
	s.sum += int64(size)                     //nolint:gosec // of the heap
	if len(s.noted) > mostNotes {
		s.halve()
	}
}

// counts reports whether the block of an address is recorded.
func (s *stratum) counts(at uintptr) bool {
	return hash(at)&(1<<s.shift-1) == 0
}

// halve makes the sample half as large, and drops the addresses outside it.
func (s *stratum) halve() {
	s.shift++
	for at, size := range s.noted {
		if !s.counts(at) {
			delete(s.noted, at)
			s.sum -= int64(size)
		}
	}
}

func (s *stratum) estimate() int64 { return s.sum << s.shift }

// hash mixes the bits of an address: the lowest ones depend on all.
func hash(at uintptr) uint64 {
	high, low := bits.Mul64(uint64(at)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return high ^ low
}

// sizes are the block sizes of Go's allocator up to 1 kB. Larger ones are at most an eighth
// apart, and from 32 kB on whole pages.
var sizes = [...]uintptr{
	8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416, 448, 480, 512,
	576, 640, 704, 768, 896, 1024,
}

// allocated returns the size of a block in Go's allocator.
func allocated(size uintptr) uintptr {
	const page = 8 << 10
	if size <= sizes[len(sizes)-1] {
		i, _ := slices.BinarySearch(sizes[:], size)
		return sizes[i]
	}
	step := uintptr(1) << (bits.Len64(uint64(size-1)) - 4)
	if size > 4*page {
		step = page
	}
	return (size + step - 1) &^ (step - 1)
}
