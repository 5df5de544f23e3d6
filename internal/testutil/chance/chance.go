package chance

import "math/rand/v2"

// Bytes is a source for rand.Rand that uses one byte for each number. After the last byte it returns
// zeros.
type Bytes struct{ left []byte }

var _ rand.Source = (*Bytes)(nil)

// New returns a source of bytes, and a rand.Rand that uses it.
func New(data []byte) (*Bytes, *rand.Rand) {
	b := &Bytes{data}
	return b, rand.New(b)
}

// More reports whether there are bytes left.
func (b *Bytes) More() bool { return len(b.left) > 0 }

// Uint64 makes a number from the next byte, for rand.Rand.
//
// Rand uses the low bits if a bound is a power of two, and otherwise scales the upper half. Therefore
// the byte is at both ends. Rand draws again if the lower half of the scaled number is too small. The
// bits in the middle prevent this. Without them, Rand would loop forever when all remaining bytes are
// the same.
func (b *Bytes) Uint64() uint64 {
	var n uint64
	if len(b.left) > 0 {
		n, b.left = uint64(b.left[0]), b.left[1:]
	}
	return n<<56 | 0x800001<<32 | n
}
