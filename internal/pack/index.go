package pack

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// window is the number of equal bytes that a search needs to find a copy.
	window = 8
	// stride is the distance between indexed positions of a base. A run of window+stride-1 equal bytes
	// contains one of them.
	stride = 4
	// maxBase is the largest size of a base, because an index has two bytes for a position.
	maxBase = 1 << 16
)

// index finds bytes in a base. Positions with the same hash overwrite each other, so find may miss bytes, or
// return a wrong position. The caller compares the bytes.
type index struct {
	slots []uint16 // by hash: a position divided by stride, plus one; 0 for none
	shift int      // converts a hash to a slot number
}

// build makes x the index of a base of at most maxBase bytes. It reuses the memory of x.
func (x *index) build(base []byte) {
	n := bits.Len(uint(len(base) / stride))
	x.slots, x.shift = slices.Grow(x.slots[:0], 1<<n)[:1<<n], 64-n
	clear(x.slots)
	for p := 0; p+window <= len(base); p += stride {
		x.slots[hash(word64(base, p))>>x.shift] = uint16(p/stride + 1)
	}
}

// find returns a position of the base where the bytes may be, or a negative number.
func (x *index) find(word uint64) int { return (int(x.slots[hash(word)>>x.shift]) - 1) * stride }

func hash(word uint64) uint64 { return word * 0x9e3779b97f4a7c15 }

func word64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func word32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
