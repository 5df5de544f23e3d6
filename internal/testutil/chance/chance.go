package chance

import "math/rand/v2"

// Bytes are the source of a rand.Rand, one byte for each number. When they have
// run out, they count as zeros.
type Bytes struct{ left []byte }

var _ rand.Source = (*Bytes)(nil)

// New returns a source of bytes, and the random numbers that come of it.
func New(data []byte) (*Bytes, *rand.Rand) {
	b := &Bytes{data}
	return b, rand.New(b)
}

// More tells whether there are bytes left.
func (b *Bytes) More() bool { return len(b.left) > 0 }

// Uint64 makes a number of the next byte, for rand.Rand.
//
// Rand takes the low bits where a bound is a power of two and scales the upper
// half elsewhere, so that the byte stands at both ends. It draws again where the
// lower half of the scaled number is too small; the ones in the middle see to it
// that it never does, or it would for ever once all bytes are the same.
func (b *Bytes) Uint64() uint64 {
	var n uint64
	if len(b.left) > 0 {
		n, b.left = uint64(b.left[0]), b.left[1:]
	}
	return n<<56 | 0x800001<<32 | n
}
