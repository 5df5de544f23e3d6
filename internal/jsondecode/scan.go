package jsondecode

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A kind is the JSON type of a value.
type kind uint8

const (
	kindObject  kind = iota + 1
	kindArray        //
	kindString       // a string of valid UTF-8 without escapes
	kindEscaped      // a string with escapes or invalid UTF-8
	kindInt          // a number without fraction and exponent
	kindFloat        //
	kindTrue         //
	kindFalse        //
	kindNull         //
)

const (
	// deepest is the deepest nesting of values, as in encoding/json.
	deepest = 10000
	// longest limits the length of a text, so that positions fit into a token.
	longest = 1 << 30
	// spare limits the memory for tokens and strings that is kept for the next text.
	spare = 1 << 13
)

// token is one value of a text. The keys of objects are tokens, too.
type token struct {
	start, end uint32 // the value's bytes, including the quotes of a string
	next       uint32 // the token after the value and everything in it
	few        uint16 // number of an object's members or an array's elements, or many
	kind       kind
}

// many is the number in a token if the real number does not fit.
const many = 1<<16 - 1

// text is a checked JSON text, as the list of its values in the order of their first bytes. The key and
// the value of each member follow an object, and the elements follow an array.
//
// A decoder that walks through the list can skip values, and needs no syntax checks, because the scanner
// has made all of them.
type text struct {
	data   []byte
	pos    int // the position of the scanner
	tokens []token
	plain  []byte // the content of the last string with escapes
}

// scan scans a text. It reports whether the text is one well-formed JSON value.
func (t *text) scan(data []byte) bool {
	t.data, t.pos, t.tokens = data, 0, t.tokens[:0]
	if len(data) > longest || !t.value(0) {
		return false
	}
	t.peek()
	return t.pos == len(data)
}

// clear drops the text.
func (t *text) clear() {
	t.data = nil
	if cap(t.tokens) > spare {
		t.tokens = nil
	}
	if cap(t.plain) > spare {
		t.plain = nil
	}
}

// raw returns the bytes of a value.
func (t *text) raw(i uint32) []byte {
	from, to := t.tokens[i].start, t.tokens[i].end
	return t.data[from:to:to]
}

// content returns the content of a string, valid until the next call.
func (t *text) content(i uint32) []byte {
	raw := t.raw(i)
	raw = raw[1 : len(raw)-1]
	if t.tokens[i].kind == kindString {
		return raw
	}
	t.plain = appendUnquoted(t.plain[:0], raw)
	return t.plain
}

// count returns the number of an object's members, or an array's elements.
func (t *text) count(i uint32) int {
	self := t.tokens[i]
	if self.few < many {
		return int(self.few)
	}
	n := 0
	for i++; i < self.next; i = t.tokens[i].next {
		n++
	}
	if self.kind == kindObject {
		n /= 2
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// peek skips whitespace, and returns the next byte, or 0 at the end.
func (t *text) peek() byte {
	for ; t.pos < len(t.data); t.pos++ {
		if c := t.data[t.pos]; c > ' ' || !isSpace(c) {
			return c
		}
	}
	return 0
}

// at reports whether the next byte is c, and skips it.
func (t *text) at(c byte) bool {
	if t.pos < len(t.data) && t.data[t.pos] == c {
		t.pos++
		return true
	}
	return false
}

func (t *text) value(depth int) bool {
	switch t.peek() {
	case '"':
		return t.string()
	case '{':
		return t.object(depth + 1)
	case '[':
		return t.array(depth + 1)
	case 't':
		return t.word("true", kindTrue)
	case 'f':
		return t.word("false", kindFalse)
	case 'n':
		return t.word("null", kindNull)
	}
	return t.number()
}

// scalar adds a value that ends at the scanner's position.
func (t *text) scalar(start int, k kind) bool {
	//nolint:gosec // a text is shorter than longest
	t.tokens = append(t.tokens, token{start: uint32(start), end: uint32(t.pos), next: uint32(len(t.tokens) + 1), kind: k})
	return true
}

// open adds an object or array, and close sets its end.
func (t *text) open(k kind) (self int) {
	t.tokens = append(t.tokens, token{start: uint32(t.pos), kind: k}) //nolint:gosec // see scalar
	t.pos++
	return len(t.tokens) - 1
}

func (t *text) close(self, count int) bool {
	t.pos++
	o := &t.tokens[self]
	o.end, o.next, o.few = uint32(t.pos), uint32(len(t.tokens)), uint16(min(count, many)) //nolint:gosec // see scalar
	return true
}

func (t *text) object(depth int) bool {
	if depth > deepest {
		return false
	}
	self := t.open(kindObject)
	if t.peek() == '}' {
		return t.close(self, 0)
	}
	for count := 1; ; count++ {
		if t.peek() != '"' || !t.string() || t.peek() != ':' {
			return false
		}
		t.pos++
		if !t.value(depth) {
			return false
		}
		switch t.peek() {
		case '}':
			return t.close(self, count)
		case ',':
			t.pos++
		default:
			return false
		}
	}
}

func (t *text) array(depth int) bool {
	if depth > deepest {
		return false
	}
	self := t.open(kindArray)
	if t.peek() == ']' {
		return t.close(self, 0)
	}
	for count := 1; ; count++ {
		if !t.value(depth) {
			return false
		}
		switch t.peek() {
		case ']':
			return t.close(self, count)
		case ',':
			t.pos++
		default:
			return false
		}
	}
}

func (t *text) word(w string, k kind) bool {
	start := t.pos
	if len(t.data)-start < len(w) || string(t.data[start:start+len(w)]) != w {
		return false
	}
	t.pos += len(w)
	return t.scalar(start, k)
}

func (t *text) number() bool {
	start, k := t.pos, kindInt
	t.at('-')
	if !t.at('0') && !t.digits() {
		return false
	}
	if t.at('.') {
		k = kindFloat
		if !t.digits() {
			return false
		}
	}
	if t.at('e') || t.at('E') {
		k = kindFloat
		if !t.at('+') {
			t.at('-')
		}
		if !t.digits() {
			return false
		}
	}
	return t.scalar(start, k)
}

// digits skips digits, at least one.
func (t *text) digits() bool {
	start := t.pos
	for t.pos < len(t.data) && t.data[t.pos]-'0' <= 9 {
		t.pos++
	}
	return t.pos > start
}

func (t *text) string() bool {
	end, k := stringEnd(t.data, t.pos)
	if end < 0 {
		return false
	}
	start := t.pos
	t.pos = end
	return t.scalar(start, k)
}

// stringEnd returns the index after the string at start, or -1 if the string is malformed.
func stringEnd(data []byte, start int) (end int, k kind) {
	k = kindString
	ascii := true
	for i := start + 1; ; {
		i = plainEnd(data, i)
		if i >= len(data) {
			return -1, k
		}
		switch c := data[i]; {
		case c == '"':
			if !ascii && k == kindString && !utf8.Valid(data[start+1:i]) {
				k = kindEscaped
			}
			return i + 1, k
		case c == '\\':
			k = kindEscaped
			n := escapeLen(data[i:])
			if n == 0 {
				return -1, k
			}
			i += n
		case c < ' ':
			return -1, k
		default:
			ascii = false
			for i < len(data) && data[i] >= utf8.RuneSelf {
				i++
			}
		}
	}
}

// eachByte times a byte is a word of eight such bytes.
const eachByte = 0x0101010101010101

// plainEnd returns the index of the first special byte from i on: a quote, a backslash, a control
// character, or a byte outside of ASCII. It tests eight bytes at once: b-1 borrows from the highest bit
// if b is zero, and b-0x20 if b is less than that. The result bits after the first special byte may be
// wrong, and are not used.
func plainEnd(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, backslash := w^eachByte*'"', w^eachByte*'\\'
		special := (quote-eachByte)&^quote | (backslash-eachByte)&^backslash | (w-eachByte*' ')&^w | w
		if special &= eachByte * 0x80; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= ' ' && data[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// escapeLen returns the length of the escape at the beginning of s, or 0.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) >= 6 && hex4(s[2:6]) >= 0 {
			return 6
		}
	}
	return 0
}
