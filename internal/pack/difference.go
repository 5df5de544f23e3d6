package pack

import (
	"encoding/binary"
	"slices"
)

// A difference is the number of bytes that it undoes to, and a row of steps that make them from the
// first to the last. A step begins with a number: in the lowest two bits its operation, above them a
// count. Numbers are written as varints.
//
// The base is read at a place that moves on with whatever is made: if an object has other bytes than
// its base, but as many, the next copy is at the place again.
const (
	opText = iota // count bytes, which follow
	opHex         // twice as many digits, two in each of the count bytes that follow
	opNext        // count bytes of the base at the place
	opJump        // count bytes from where a second number says
)

// If this bit of a jump's second number is set, the bits above it are how far back the copy is in the
// bytes made so far. Otherwise they move the place in the base, forwards or backwards (zigzag).
const fromMade = 1

const (
	// growth is how many bytes one byte that is read may make, of a difference or its base: a damaged
	// size makes nobody allocate much.
	growth = 16
	// maxSize is the largest number of bytes of an object. The header of a blob has 28 bits for it.
	maxSize = 1<<28 - 1
)

// mayMake reports whether a difference to a base may make so many bytes.
func mayMake(size uint64, base, difference []byte) bool {
	return size <= maxSize && size <= growth*uint64(len(base)+len(difference))
}

// undo appends the bytes of which d is the difference to a base. Any d is allowed.
func undo(dst, base, d []byte) ([]byte, error) {
	size, i := binary.Uvarint(d)
	if i <= 0 || !mayMake(size, base, d) {
		return dst, ErrDamaged
	}
	from := len(dst)
	dst = slices.Grow(dst, int(size))[:from+int(size)]
	if !undoSteps(dst[from:], base, d[i:]) {
		return dst[:from], ErrDamaged
	}
	return dst, nil
}

// undoSteps makes the bytes of a row of steps, and reports whether all of them are valid and make as
// many bytes as there is room for. It is one loop over local variables, for speed: a base may have some
// hundred steps.
func undoSteps(made, base, d []byte) (ok bool) {
	at, place := 0, 0 // in made; in the base, or outside of it
	for i := 0; i < len(d); {
		word, next := number(d, i)
		if next == 0 || word>>2 > uint64(len(made)-at) {
			return false
		}
		i = next
		count := int(word >> 2)
		switch word & 3 {
		case opText:
			if count > len(d)-i {
				return false
			}
			copy(made[at:], d[i:i+count])
			i += count
		case opHex:
			if count > len(d)-i || 2*count > len(made)-at {
				return false
			}
			writeHex(made[at:], d[i:i+count])
			i += count
			count *= 2
		case opJump:
			where, next := number(d, i)
			if next == 0 {
				return false
			}
			i = next
			if where&fromMade != 0 {
				back := int(where >> 1) // if an int has 32 bits, of what they hold
				if back < count || back > at {
					return false
				}
				copy(made[at:], made[at-back:at-back+count])
				break
			}
			place += unzigzag(where >> 1)
			fallthrough
		case opNext:
			if place < 0 || place > len(base)-count {
				return false
			}
			copy(made[at:], base[place:place+count])
		}
		at, place = at+count, place+count
	}
	return at == len(made)
}

// number reads a number of at most 35 bits at i, and returns the index behind it, or 0 if there is none.
func number(d []byte, i int) (v uint64, next int) {
	for shift := 0; shift < 35 && i < len(d); shift += 7 {
		b := d[i]
		i++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, i
		}
	}
	return 0, 0
}

const digits = "0123456789abcdef"

func writeHex(to, d []byte) {
	to = to[:2*len(d)]
	for i, b := range d {
		to[2*i], to[2*i+1] = digits[b>>4], digits[b&15]
	}
}

// zigzag makes a small number of one near zero; unzigzag undoes it.
func zigzag(n int) uint64 { return uint64(int64(n)<<1 ^ int64(n)>>63) }

func unzigzag(v uint64) int { return int(v>>1) ^ -int(v&1) }
