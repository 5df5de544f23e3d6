package pack

import (
	"encoding/binary"
	"slices"
)

// A difference is the size of its output, and then the steps that produce the output in order. A step begins
// with a number: the lowest two bits are the operation, and the other bits a count. Numbers are varints.
//
// A cursor in the base moves forward with the output. If an object has as many bytes as its base and only some
// differ, the cursor is already at the right position for the next copy.
const (
	opLiteral  = iota // writes the count bytes that follow
	opHex             // writes two hex digits for each of the count bytes that follow
	opCopy            // copies count bytes of the base from the cursor
	opCopyFrom        // copies count bytes from the position that a second number gives
)

// fromOutput is a bit of opCopyFrom's second number. If it is set, the other bits are the distance back in the
// output. Otherwise they move the cursor, forward or back, with zigzag encoding.
const fromOutput = 1

const (
	// maxGrowth bounds the output, per byte of the difference and the base. A damaged size therefore cannot
	// cause a huge allocation.
	maxGrowth = 16
	// maxSize is the largest size of an object. A blob's header has 28 bits for it.
	maxSize = 1<<28 - 1
)

// allowedSize reports whether a difference to a base may have an output of this size.
func allowedSize(size uint64, base, difference []byte) bool {
	return size <= maxSize && size <= maxGrowth*uint64(len(base)+len(difference))
}

// apply applies a difference to a base, and appends the output to dst. d may be damaged.
func apply(dst, base, d []byte) ([]byte, error) {
	size, i := binary.Uvarint(d)
	if i <= 0 || !allowedSize(size, base, d) {
		return dst, ErrDamaged
	}
	from := len(dst)
	dst = slices.Grow(dst, int(size))[:from+int(size)]
	if !applySteps(dst[from:], base, d[i:]) {
		return dst[:from], ErrDamaged
	}
	return dst, nil
}

// applySteps writes the output of the steps in d to out. It reports whether they are valid and fill out. It is
// one loop over local variables for speed, because there may be hundreds of steps.
func applySteps(out, base, d []byte) (ok bool) {
	at, cursor := 0, 0 // positions in out and base; cursor may be out of range
	for i := 0; i < len(d); {
		word, next := readNumber(d, i)
		if next == 0 || word>>2 > uint64(len(out)-at) {
			return false
		}
		i = next
		count := int(word >> 2)
		switch word & 3 {
		case opLiteral:
			if count > len(d)-i {
				return false
			}
			copy(out[at:], d[i:i+count])
			i += count
		case opHex:
			if count > len(d)-i || 2*count > len(out)-at {
				return false
			}
			expandHex(out[at:], d[i:i+count])
			i += count
			count *= 2
		case opCopyFrom:
			where, next := readNumber(d, i)
			if next == 0 {
				return false
			}
			i = next
			if where&fromOutput != 0 {
				back := int(where >> 1) // a 32-bit int may drop bits
				if back < count || back > at {
					return false
				}
				copy(out[at:], out[at-back:at-back+count])
				break
			}
			cursor += unzigzag(where >> 1)
			fallthrough
		case opCopy:
			if cursor < 0 || cursor > len(base)-count {
				return false
			}
			copy(out[at:], base[cursor:cursor+count])
		}
		at, cursor = at+count, cursor+count
	}
	return at == len(out)
}

// readNumber reads a number of at most 35 bits at i. It returns the index after the number, or 0 if the number
// is not valid.
func readNumber(d []byte, i int) (v uint64, next int) {
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

// expandHex writes two hex digits for each byte of d.
func expandHex(to, d []byte) {
	to = to[:2*len(d)]
	for i, b := range d {
		to[2*i], to[2*i+1] = digits[b>>4], digits[b&15]
	}
}

// zigzag encodes an integer so that numbers near zero become small. unzigzag decodes it.
func zigzag(n int) uint64 { return uint64(int64(n)<<1 ^ int64(n)>>63) }

func unzigzag(v uint64) int { return int(v>>1) ^ -int(v&1) }
