package pack

import (
	"encoding/binary"
	"math/bits"
)

// search computes differences, one at a time. It reuses its memory.
type search struct {
	data   []byte
	base   *baseData
	out    []byte // the steps that produce data[:from]
	from   int
	cursor int                   // the cursor of [applySteps] after these steps
	seen   [1 << seenBits]uint32 // by hash: a position in data that is not in a copy, plus one; 0 for none
}

const (
	seenBits = 9
	maxKept  = 1 << 17 // the largest buffer kept for the next difference
)

// difference returns the difference of data to a base, or nil if it is not smaller than data. The result is
// valid until the next call.
func (s *search) difference(data []byte, base *baseData) []byte {
	s.data, s.base, s.from, s.cursor = data, base, 0, 0
	s.out = binary.AppendUvarint(s.out[:0], uint64(len(data)))
	clear(s.seen[:])
	for i := 0; i+window <= len(data); {
		if end := s.copyAt(i); end > i {
			i = end
		} else {
			i += 1 + (i-s.from)>>6 // take longer steps the longer nothing is found
		}
	}
	s.writeLiteral(len(data))
	d := s.out
	s.data, s.base = nil, nil
	if cap(d) > maxKept {
		s.out = nil
	}
	if len(d) >= len(data) || !allowedSize(uint64(len(data)), base.data, d) {
		return nil
	}
	return d
}

// copyAt looks for a copy of the bytes at i, writes it, and returns its end. It looks for four equal bytes at the
// cursor, and then for more elsewhere. It returns 0 if it finds none.
func (s *search) copyAt(i int) (end int) {
	at := s.cursor + i - s.from
	if at >= 0 && at+4 <= len(s.base.data) && word32(s.data, i) == word32(s.base.data, at) {
		return s.copyBase(i, at)
	}
	word := word64(s.data, i)
	if at = s.base.index.find(word); at >= 0 && word64(s.base.data, at) == word {
		return s.copyBase(i, at)
	}
	slot := &s.seen[hash(word)>>(64-seenBits)]
	if at := int(*slot) - 1; at >= 0 && word64(s.data, at) == word {
		return s.copyOutput(i, at)
	}
	*slot = uint32(i + 1)
	return 0
}

// copyBase writes a copy from the base. data at i equals the base at a position; the copy extends in both
// directions as far as the bytes are equal.
func (s *search) copyBase(i, at int) (end int) {
	back := commonSuffix(s.data[s.from:i], s.base.data[:at])
	i, at = i-back, at-back
	n := commonPrefix(s.data[i:], s.base.data[at:])
	s.writeLiteral(i)
	if at == s.cursor {
		s.writeStep(n, opCopy)
	} else {
		s.writeStep(n, opCopyFrom)
		s.out = binary.AppendUvarint(s.out, zigzag(at-s.cursor)<<1)
		s.cursor = at
	}
	s.advance(n)
	return s.from
}

// copyOutput writes a copy from an earlier position in data. It extends in both directions like copyBase.
func (s *search) copyOutput(i, at int) (end int) {
	back := commonSuffix(s.data[s.from:i], s.data[:at])
	i, at = i-back, at-back
	n := min(commonPrefix(s.data[i:], s.data[at:]), i-at)
	s.writeLiteral(i)
	s.writeStep(n, opCopyFrom)
	s.out = binary.AppendUvarint(s.out, uint64(i-at)<<1|fromOutput)
	s.advance(n)
	return s.from
}

// writeLiteral writes the bytes up to end, for which there is no copy.
func (s *search) writeLiteral(end int) {
	text, i := s.from, s.from
	for i < end {
		n := hexPrefix(s.data[i:end]) &^ 1
		if n < minHexDigits {
			i += max(n, 1)
			continue
		}
		s.writeText(s.data[text:i])
		s.writeHex(s.data[i : i+n])
		i += n
		text = i
	}
	s.writeText(s.data[text:end])
	s.advance(end - s.from)
}

func (s *search) writeText(text []byte) {
	if len(text) > 0 {
		s.writeStep(len(text), opLiteral)
		s.out = append(s.out, text...)
	}
}

// minHexDigits is the smallest number of hex digits for which opHex pays.
const minHexDigits = 8

func (s *search) writeHex(text []byte) {
	s.writeStep(len(text)/2, opHex)
	for i := 0; i < len(text); i += 2 {
		s.out = append(s.out, hexValue(text[i])<<4|hexValue(text[i+1]))
	}
}

// writeStep writes the number with which a step begins.
func (s *search) writeStep(count, operation int) {
	s.out = binary.AppendUvarint(s.out, uint64(count)<<2|uint64(operation))
}

func (s *search) advance(n int) { s.from, s.cursor = s.from+n, s.cursor+n }

// hexPrefix returns the number of lowercase hex digits at the beginning of text.
func hexPrefix(text []byte) int {
	n := 0
	for n < len(text) && (text[n]-'0' < 10 || text[n]-'a' < 6) {
		n++
	}
	return n
}

func hexValue(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// commonPrefix returns the number of equal bytes at the beginning of a and b.
func commonPrefix(a, b []byte) int {
	n, most := 0, min(len(a), len(b))
	for ; n+8 <= most; n += 8 {
		if differ := word64(a, n) ^ word64(b, n); differ != 0 {
			return n + bits.TrailingZeros64(differ)/8
		}
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix returns the number of equal bytes at the end of a and b.
func commonSuffix(a, b []byte) int {
	n, most := 0, min(len(a), len(b))
	for n < most && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
