package protodecode

// varint reads a number at i. It returns the index after it, or 0 if there is no number.
func varint(data []byte, i int) (v uint64, next int) {
	if i < len(data) && data[i] < 0x80 {
		return uint64(data[i]), i + 1
	}
	return longVarint(data, i)
}

func longVarint(data []byte, i int) (v uint64, next int) {
	for shift := 0; shift < 64 && i < len(data); shift += 7 {
		b := data[i]
		i++
		if shift == 63 && b > 1 {
			return 0, 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, i
		}
	}
	return 0, 0
}

// content reads a length at i, and returns the begin and the end of that many bytes. If fewer bytes are
// left, end is -1.
func content(data []byte, i int) (start, end int) {
	n, start := varint(data, i)
	if start == 0 || n > uint64(len(data)-start) {
		return 0, -1
	}
	return start, start + int(n) //nolint:gosec // at most len(data)
}

// skip returns the index after a value of a wire type, or -1 for a group or an incomplete value.
func skip(data []byte, i int, wire uint8) int {
	end := -1
	switch wire {
	case wireVarint:
		if _, next := varint(data, i); next > 0 {
			end = next
		}
	case wireBytes:
		_, end = content(data, i)
	case wireFixed32:
		end = i + 4
	case wireFixed64:
		end = i + 8
	}
	if end > len(data) {
		return -1
	}
	return end
}

// tagged reports whether the field's tag is at i.
func (f *field) tagged(data []byte, i int) bool {
	if f.tagLen == 1 {
		return i < len(data) && data[i] == byte(f.tag)
	}
	return i+1 < len(data) && data[i] == byte(f.tag) && data[i+1] == byte(f.tag>>8)
}

// run counts successive entries of a repeated field, and returns where they end. The content of the
// first entry begins at start. If an entry is incomplete, end is -1.
func (f *field) run(data []byte, start int) (n, end int) {
	end = start
	for {
		end = skip(data, end, f.wire)
		if end < 0 {
			return 0, -1
		}
		n++
		if !f.tagged(data, end) {
			return n, end
		}
		end += f.tagLen
	}
}
