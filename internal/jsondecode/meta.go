package jsondecode

import (
	"encoding/binary"
	"math/bits"
)

// ReadMeta reads a string of an item's metadata, and the item's resourceVersion. It does not allocate:
// both results are parts of item. It returns false unless the string occurs once, and is ASCII or UTF-8
// without escapes. Then version is nil. version is also nil if the item has none. If an object has two
// metadata, which no server sends, the first one counts. ReadMeta finds the ends of values by quotes and
// brackets. It does not check the item, because the decoder does.
func ReadMeta(item []byte, field string) (value, version []byte, ok bool) {
	w := walk{data: item}
	if !w.enter() {
		return nil, nil, false
	}
	for {
		key, more := w.key()
		switch {
		case !more:
			return nil, nil, false
		case string(key) == "metadata":
			return w.metadata(field)
		case w.value() == nil:
			return nil, nil, false
		}
	}
}

// walk steps through the members of an object.
type walk struct {
	data []byte
	pos  int
}

// metadata reads the metadata, which comes next.
func (w *walk) metadata(field string) (value, version []byte, ok bool) {
	if !w.enter() {
		return nil, nil, false
	}
	for {
		key, more := w.key()
		if !more {
			return value, version, value != nil && w.peek() == '}'
		}
		to := &value
		switch string(key) {
		case field:
		case "resourceVersion":
			to = &version
		default:
			if w.value() == nil {
				return nil, nil, false
			}
			continue
		}
		if *to != nil {
			return nil, nil, false
		}
		if *to = plain(w.value()); *to == nil {
			return nil, nil, false
		}
	}
}

// plain returns the content of a string without escapes. It returns nil for any other value.
func plain(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	if end, k := stringEnd(raw, 0); end != len(raw) || k != kindString {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// peek skips whitespace, and returns the byte after it, or 0 at the end.
func (w *walk) peek() byte {
	for ; w.pos < len(w.data); w.pos++ {
		if c := w.data[w.pos]; !isSpace(c) {
			return c
		}
	}
	return 0
}

// enter enters an object.
func (w *walk) enter() bool {
	if w.peek() != '{' {
		return false
	}
	w.pos++
	return true
}

// key skips the next member's key and its colon. It returns false if there is no member, or if its key
// has an escape.
func (w *walk) key() (key []byte, ok bool) {
	if w.peek() == ',' {
		w.pos++
	}
	if w.peek() != '"' {
		return nil, false
	}
	start := w.pos + 1
	end, escaped := closingQuote(w.data, start)
	if end < 0 || escaped {
		return nil, false
	}
	w.pos = end + 1
	if w.peek() != ':' {
		return nil, false
	}
	w.pos++
	return w.data[start:end], true
}

// value skips a value. It returns nil if the item ends inside the value.
func (w *walk) value() []byte {
	c := w.peek()
	start, end := w.pos, w.pos
	switch c {
	case '"':
		end, _ = closingQuote(w.data, start+1)
		end++
	case '{', '[':
		end = closingBracket(w.data, start)
	default:
		for end < len(w.data) && !endsScalar(w.data[end]) {
			end++
		}
	}
	if end <= start {
		return nil
	}
	w.pos = end
	return w.data[start:end]
}

func endsScalar(c byte) bool { return c == ',' || c == '}' || c == ']' || isSpace(c) }

// closingBracket returns the index after the object or array that begins at i, or -1.
func closingBracket(data []byte, i int) (end int) {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			if i, _ = closingQuote(data, i+1); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// closingQuote returns the index of the quote that ends the string whose content begins at i, or -1, and
// whether the content has a backslash. It tests eight bytes at once, like [plainEnd].
func closingQuote(data []byte, i int) (end int, escaped bool) {
	for i+8 <= len(data) {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, backslash := w^eachByte*'"', w^eachByte*'\\'
		special := ((quote-eachByte)&^quote | (backslash-eachByte)&^backslash) & (eachByte * 0x80)
		if special == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(special) / 8; data[i] == '"' {
			return i, escaped
		}
		i, escaped = i+2, true
	}
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			return i, escaped
		case '\\':
			i++
			escaped = true
		}
	}
	return -1, escaped
}
