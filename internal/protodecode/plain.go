package protodecode

// IsPlain reports whether data is certain to decode, and the object then contains everything in data
// exactly once. The bytes of API servers are plain. IsPlain does not allocate, and takes a small
// fraction of the decoding time. If it returns false, the bytes may be valid or invalid.
func (d *Decoder) IsPlain(data []byte) bool {
	p := d.planOnce()
	return p != nil && p.form == formTable && p.isPlain(data, 0)
}

// plainNesting limits the nesting of messages in plain bytes.
const plainNesting = 100

// isPlain corresponds to walk.message, but makes no object.
func (p *plan) isPlain(data []byte, depth int) bool {
	if depth == plainNesting {
		return false
	}
	var seen uint64
	for i := 0; i < len(data); {
		tag, next := varint(data, i)
		number := tag >> 3
		if next == 0 || number == 0 || number > 63 || seen&(1<<number) != 0 {
			return false
		}
		seen |= 1 << number
		f := &skipped
		if number < uint64(len(p.fields)) {
			f = &p.fields[number]
		}
		switch {
		case f.kind == kindSkipped:
			i = skip(data, next, uint8(tag&7))
		case next-i != f.tagLen || tag&7 != uint64(f.wire):
			return false
		default:
			i = f.plainEnd(data, next, depth)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// plainEnd returns the index after a plain field, or after a run of them, or -1. The content begins at
// i.
func (f *field) plainEnd(data []byte, i, depth int) int {
	if f.kind == kindUnknown {
		return -1
	}
	for {
		start, end := i, 0
		if f.wire == wireBytes {
			start, end = content(data, i)
		} else {
			end = skip(data, i, f.wire)
		}
		if end < 0 || !f.isPlainEntry(data[start:end], depth) {
			return -1
		}
		if f.kind < kindStrings || !f.tagged(data, end) {
			return end
		}
		i = end + f.tagLen
	}
}

// isPlainEntry reports whether the content of a field, or of one entry of a run, is plain.
func (f *field) isPlainEntry(b []byte, depth int) bool {
	if f.kind >= kindStringMap {
		_, value, ok := pair(b)
		if !ok || value == nil || f.sub == nil {
			return ok
		}
		b = value
	}
	return f.sub == nil || f.sub.isPlainValue(b, depth)
}

func (p *plan) isPlainValue(b []byte, depth int) bool {
	switch p.form {
	case formTable:
		return p.isPlain(b, depth+1)
	case formTime, formMicroTime:
		_, _, ok := timestamp(b)
		return ok
	case formQuantity:
		return isPlainQuantity(b)
	}
	return false
}

// isPlainQuantity reports whether a message is a quantity with a few digits and a suffix.
func isPlainQuantity(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	start, end := content(b, 1)
	if b[0] != 1<<3|wireBytes || end != len(b) {
		return false
	}
	text := b[start:end]
	digits := 0
	for digits < len(text) && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > 15 {
		return false
	}
	switch string(text[digits:]) {
	case "", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti":
		return true
	}
	return false
}
