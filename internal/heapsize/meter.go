package heapsize

import (
	"math/bits"
	"reflect"
	"slices"
	"unsafe"
)

// mostNotes is how many blocks of a stratum are noted.
const mostNotes = 1 << 14

// large is the size from which on blocks are counted apart: few of them may be most of the
// memory.
const large = 2048

// Meter adds up blocks of memory. The zero value is ready to use.
type Meter struct {
	small, big stratum
	left       int // how many blocks of an object may still be met
	depth      int // of the value that is looked at, in its object
}

// mostBlocks is how many blocks of one object are looked at, and deepest how deep in it. They end
// the walk through values that refer to each other in a circle.
const (
	mostBlocks = 1 << 17
	deepest    = 200
)

// stratum counts blocks of similar sizes. A block is noted where the lowest bits of its
// address' hash are zero, as many as shift says.
type stratum struct {
	noted map[uintptr]uint32
	sum   int64 // of the noted ones
	shift uint
}

// Add adds an object, and all that it refers to.
func (m *Meter) Add(obj any) {
	if obj == nil {
		return
	}
	m.left = mostBlocks
	m.inside(unsafe.Pointer(&obj), planOf(anyType))
}

// Text adds the bytes of a string.
func (m *Meter) Text(s string) {
	m.left = mostBlocks
	m.text(unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s)))
}

var anyType = reflect.TypeFor[any]()

// Bytes returns how many bytes of the heap have been met so far.
func (m *Meter) Bytes() int64 { return m.small.estimate() + m.big.estimate() }

// block counts a block of memory, once.
func (m *Meter) block(at unsafe.Pointer, size uintptr) {
	m.count(at, allocated(size))
}

// text counts the bytes of a string, once. Go's allocator packs short ones.
func (m *Meter) text(at unsafe.Pointer, size uintptr) {
	if size > 8 {
		size = allocated(size)
	}
	m.count(at, size)
}

func (m *Meter) count(at unsafe.Pointer, size uintptr) {
	if m.left--; at == nil || size == 0 {
		return
	}
	if size < large {
		m.small.note(uintptr(at), size)
	} else {
		m.big.note(uintptr(at), size)
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

// counts tells whether a block of an address is noted.
func (s *stratum) counts(at uintptr) bool {
	return hash(at)&(1<<s.shift-1) == 0
}

// halve drops the half of the notes whose addresses are not to be noted any more.
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

// hash mixes the bits of an address, so that the lowest ones depend on all.
func hash(at uintptr) uint64 {
	high, low := bits.Mul64(uint64(at)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return high ^ low
}

// sizes are the sizes of blocks up to 1 kB that Go's allocator has. Those above are at most an
// eighth apart, and from 32 kB on they are whole pages.
var sizes = [...]uintptr{
	8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416, 448, 480, 512,
	576, 640, 704, 768, 896, 1024,
}

// allocated is what Go's allocator takes for a block.
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
