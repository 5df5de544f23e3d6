package protodecode

// metadata and resourceVersion are the tags of two fields that every kind has, as generated code writes
// them.
const (
	metadata        = 1<<3 | wireBytes // a field of an object
	resourceVersion = 6<<3 | wireBytes // a field of its metadata
)

// ReadMeta reads a string field of an object's metadata, whose number is at most 5 (uid), and the
// object's resourceVersion. It does not allocate: both results are parts of object. It returns false
// unless the string occurs once, in its place. Generated code writes the metadata and its fields in the
// order of their numbers. ReadMeta reads nothing after the version, and does not check the object,
// because the decoder does. If an object has two metadata, which no server sends, the first one counts.
func ReadMeta(object []byte, number uint8) (value, version []byte, ok bool) {
	if len(object) == 0 || object[0] != metadata {
		return nil, nil, false
	}
	start, end := content(object, 1)
	if end < 0 {
		return nil, nil, false
	}
	meta := object[start:end]
	for i := 0; i+1 < len(meta) && meta[i] <= resourceVersion; i = end {
		tag, length := meta[i], meta[i+1]
		start, end = i+2, i+2+int(length)
		if length >= 0x80 { // long metadata, which is rare
			start, end = content(meta, i+1)
		}
		if tag&7 != wireBytes || end < start || end > len(meta) {
			return nil, nil, false
		}
		switch {
		case tag == resourceVersion:
			return value, meta[start:end], ok
		case tag>>3 != number:
		case ok:
			return nil, nil, false
		default:
			value, ok = meta[start:end], true
		}
	}
	return value, nil, ok
}
