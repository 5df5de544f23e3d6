package pack

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// window is the number of equal bytes by which a search finds a copy.
	window = 8
	// stride is the distance between the places of a base that an index has: what is equal in
	// window+stride-1 bytes is at one of them.
	stride = 4
	// maxBase is the largest number of bytes of a base: an index knows a place by two bytes.
	maxBase = 1 << 16
)

// index finds bytes in a base. Places of one hash displace each other, so it may lack what is there.
// It may also be wrong: who asks compares.
type index struct {
	slots []uint16 // by hash: a place divided by the stride, plus one; 0 for none
	shift int      // makes a hash the number of a slot
}

// build makes x the index of a base of at most maxBase bytes, in the memory that x has.
func (x *index) build(base []byte) {
	n := bits.Len(uint(len(base) / stride))
	x.slots, x.shift = slices.Grow(x.slots[:0], 1<<n)[:1<<n], 64-n
	clear(x.slots)
	for p := 0; p+window <= len(base); p += stride {
		x.slots[hash(word64(base, p))>>x.shift] = uint16(p/stride + 1)
	}
}

// place returns a place of the base where the bytes may be, or a negative number.
func (x *index) place(word uint64) int { return (int(x.slots[hash(word)>>x.shift]) - 1) * stride }

func hash(word uint64) uint64 { return word * 0x9e3779b97f4a7c15 }

func word64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func word32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
