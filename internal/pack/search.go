package pack

import (
	"encoding/binary"
	"math/bits"
)

// search makes differences, one at a time. What it allocates it uses again.
type search struct {
	data []byte
	base *openBase
	out  []byte // the steps that make data[:from]
	from int
	// place is the place of [undoSteps] when data[:from] is made.
	place int
	made  [1 << madeBits]uint32 // by hash: a place in data that is no copy, plus one; 0 for none
}

const (
	madeBits = 9
	mostKept = 1 << 17 // bytes for the difference of the next object
)

// difference returns the difference of an object's bytes to a base, or nil if it is not smaller than
// the bytes. It is valid until the next call.
func (s *search) difference(data []byte, base *openBase) []byte {
	s.data, s.base, s.from, s.place = data, base, 0, 0
	s.out = binary.AppendUvarint(s.out[:0], uint64(len(data)))
	clear(s.made[:])
	for i := 0; i+window <= len(data); {
		if end := s.copyNear(i); end > i {
			i = end
		} else {
			i += 1 + (i-s.from)>>6 // the longer nothing is found, the less is looked for
		}
	}
	s.literal(len(data))
	d := s.out
	s.data, s.base = nil, nil
	if cap(d) > mostKept {
		s.out = nil
	}
	if len(d) >= len(data) || !mayMake(uint64(len(data)), base.data, d) {
		return nil
	}
	return d
}

// copyNear writes a copy of bytes that stand at i, and returns its end. It returns 0 if it finds no
// copy: of four bytes at the place in the base, or of more elsewhere.
func (s *search) copyNear(i int) (end int) {
	place := s.place + i - s.from
	if place >= 0 && place+4 <= len(s.base.data) && word32(s.data, i) == word32(s.base.data, place) {
		return s.copyBase(i, place)
	}
	word := word64(s.data, i)
	if place = s.base.index.place(word); place >= 0 && word64(s.base.data, place) == word {
		return s.copyBase(i, place)
	}
	slot := &s.made[hash(word)>>(64-madeBits)]
	if at := int(*slot) - 1; at >= 0 && word64(s.data, at) == word {
		return s.copyMade(i, at)
	}
	*slot = uint32(i + 1)
	return 0
}

// copyBase writes a copy of all that is equal before and after i and a place in the base.
func (s *search) copyBase(i, place int) (end int) {
	back := alikeBefore(s.data[s.from:i], s.base.data[:place])
	i, place = i-back, place-back
	n := alike(s.data[i:], s.base.data[place:])
	s.literal(i)
	if place == s.place {
		s.number(n, opNext)
	} else {
		s.number(n, opJump)
		s.out = binary.AppendUvarint(s.out, zigzag(place-s.place)<<1)
		s.place = place
	}
	s.moveOn(n)
	return s.from
}

// copyMade writes a copy of all that is equal before and after i and an earlier place in the data.
func (s *search) copyMade(i, at int) (end int) {
	back := alikeBefore(s.data[s.from:i], s.data[:at])
	i, at = i-back, at-back
	n := min(alike(s.data[i:], s.data[at:]), i-at)
	s.literal(i)
	s.number(n, opJump)
	s.out = binary.AppendUvarint(s.out, uint64(i-at)<<1|fromMade)
	s.moveOn(n)
	return s.from
}

// literal writes the bytes up to end, of which there is no copy.
func (s *search) literal(end int) {
	text, i := s.from, s.from
	for i < end {
		n := hexDigits(s.data[i:end]) &^ 1
		if n < fewestDigits {
			i += max(n, 1)
			continue
		}
		s.text(s.data[text:i])
		s.hex(s.data[i : i+n])
		i += n
		text = i
	}
	s.text(s.data[text:end])
	s.moveOn(end - s.from)
}

func (s *search) text(text []byte) {
	if len(text) > 0 {
		s.number(len(text), opText)
		s.out = append(s.out, text...)
	}
}

// fewestDigits is the number of digits that are worth a step of their own.
const fewestDigits = 8

func (s *search) hex(text []byte) {
	s.number(len(text)/2, opHex)
	for i := 0; i < len(text); i += 2 {
		s.out = append(s.out, digit(text[i])<<4|digit(text[i+1]))
	}
}

func (s *search) number(count, operation int) {
	s.out = binary.AppendUvarint(s.out, uint64(count)<<2|uint64(operation))
}

func (s *search) moveOn(n int) { s.from, s.place = s.from+n, s.place+n }

// hexDigits returns the number of digits with which a text begins.
func hexDigits(text []byte) int {
	n := 0
	for n < len(text) && (text[n]-'0' < 10 || text[n]-'a' < 6) {
		n++
	}
	return n
}

func digit(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// alike returns the number of bytes with which both begin.
func alike(a, b []byte) int {
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

// alikeBefore returns the number of bytes with which both end.
func alikeBefore(a, b []byte) int {
	n, most := 0, min(len(a), len(b))
	for n < most && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
