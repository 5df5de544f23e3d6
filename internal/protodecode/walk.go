package protodecode

import (
	"encoding/binary"
	"math"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// deepest limits the nesting of messages.
const deepest = 10_000

// end is the result of decoding an object.
type end uint8

const (
	endGood    end = iota
	endOdd         // the generated Unmarshal must decode the bytes
	endTooDeep     // the generated Unmarshal would exhaust its stack
)

// walk decodes one object. It writes only into memory of the new object, through typed pointers, so that
// the garbage collector sees the writes.
type walk struct {
	table  *share.Table
	values bool // whether nested values are shared
	// ofStrings is the table for strings, and ofPayload the table for strings in [gotype.Payload], which
	// a transform after the decoding may remove. A nil table shares nothing.
	ofStrings, ofPayload *share.Table

	end   end
	depth int
	owner owner // of the value that is being decoded
	size  int   // approximate size of the allocated memory

	quantities quantities
	key        string            // a key of the map of quantities that is being decoded
	quantity   resource.Quantity // its value
}

// owner says whether other objects may share the value that is being decoded.
type owner uint8

const (
	ownerAll owner = iota
	ownerOne       // the value contains something that must not be shared
)

func newWalk(o Options) *walk {
	w := &walk{table: o.Table, values: o.Values && o.Table != nil}
	if !o.Secret {
		w.ofStrings = o.Table
	}
	if w.values {
		w.ofPayload = w.ofStrings
	}
	return w
}

func (w *walk) begin() { w.end, w.depth, w.owner, w.size = endGood, 0, ownerAll, 0 }

// odd ends the walk at bytes that an API server would not write.
func (w *walk) odd() bool {
	w.end = max(w.end, endOdd)
	return false
}

// message decodes data into the message at base. Like all methods that return a bool, it reports whether
// the walk continues.
func (w *walk) message(p *plan, base unsafe.Pointer, data []byte) bool {
	if w.depth == deepest {
		w.end = endTooDeep
		return false
	}
	w.depth++
	var seen uint64
	for i := 0; i < len(data); {
		tag, next := varint(data, i)
		if next == 0 || tag < 1<<3 || tag >= 1<<32 {
			return w.odd()
		}
		f := &skipped
		if number := tag >> 3; number < uint64(len(p.fields)) {
			f = &p.fields[number]
		}
		if f.kind == kindSkipped {
			if i = skip(data, next, uint8(tag&7)); i < 0 {
				return w.odd()
			}
			continue
		}
		if seen&f.once != 0 || next-i != f.tagLen {
			return w.odd()
		}
		seen |= f.once
		if i = w.field(f, unsafe.Add(base, f.offset), data, next, uint8(tag&7)); i < 0 {
			return w.odd()
		}
	}
	w.depth--
	return true
}

// skipped stands for all field numbers that a message does not have.
var skipped field

// field decodes the field at dst, whose content begins at i. It returns the index after the content, or
// -1.
func (w *walk) field(f *field, dst unsafe.Pointer, data []byte, i int, wire uint8) int {
	if wire != f.wire {
		if wire == wireBytes && f.kind >= kindBools && f.kind <= kind64s {
			return w.packed(f, dst, data, i)
		}
		return -1
	}
	switch wire {
	case wireVarint:
		return w.number(f, dst, data, i)
	case wireFixed32, wireFixed64:
		return w.float(f, dst, data, i)
	}
	if f.kind >= kindStrings {
		return w.repeated(f, dst, data, i)
	}
	start, end := content(data, i)
	if end < 0 || !w.single(f, dst, data[start:end]) {
		return -1
	}
	return end
}

// single decodes a string, bytes, or a message.
func (w *walk) single(f *field, dst unsafe.Pointer, b []byte) bool {
	switch f.kind {
	case kindString:
		*(*string)(dst) = w.string(f, f.strings, b)
	case kindStringPointer:
		w.mark(f)
		s := new(string)
		*s = w.string(f, f.strings, b)
		*(**string)(dst) = s
		w.size += int(unsafe.Sizeof(*s))
	case kindBytes:
		return w.bytes(f, dst, b)
	case kindMessage:
		return w.inner(f, dst, b)
	case kindMessagePointer:
		return w.pointed(f, dst, b)
	default:
		return false
	}
	return true
}

func (w *walk) string(f *field, site share.Site, b []byte) string {
	w.size += len(b)
	switch {
	case !f.intern:
		return string(b)
	case f.payload:
		return w.ofPayload.String(site, b)
	}
	return w.ofStrings.String(site, b)
}

// mark records that a field belongs to one object, like all values that contain it.
func (w *walk) mark(f *field) {
	if f.reach == reachPrivate {
		w.owner = ownerOne
	}
}

// number decodes a field with one varint, or a run of such fields.
func (w *walk) number(f *field, dst unsafe.Pointer, data []byte, i int) int {
	if f.kind >= kindBools {
		return w.unpacked(f, dst, data, i)
	}
	v, next := varint(data, i)
	if next == 0 {
		return -1
	}
	if f.kind >= kindBoolPointer {
		w.mark(f)
		w.size += 8
	}
	switch f.kind {
	case kindBool:
		*(*bool)(dst) = v != 0
	case kind32:
		*(*uint32)(dst) = uint32(v) //nolint:gosec // truncated as in the generated code
	case kind64:
		*(*uint64)(dst) = v
	case kindBoolPointer:
		*(**bool)(dst) = new(v != 0)
	case kind32Pointer:
		*(**uint32)(dst) = new(uint32(v)) //nolint:gosec // truncated as in the generated code
	case kind64Pointer:
		*(**uint64)(dst) = new(v)
	default:
		return -1
	}
	return next
}

func (w *walk) float(f *field, dst unsafe.Pointer, data []byte, i int) int {
	end := skip(data, i, f.wire)
	if end < 0 {
		return -1
	}
	b := data[i:end]
	switch f.kind {
	case kindFloat32:
		*(*float32)(dst) = math.Float32frombits(binary.LittleEndian.Uint32(b))
	case kindFloat64:
		*(*float64)(dst) = math.Float64frombits(binary.LittleEndian.Uint64(b))
	case kindFloat32Pointer:
		w.mark(f)
		*(**float32)(dst) = new(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case kindFloat64Pointer:
		w.mark(f)
		*(**float64)(dst) = new(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	default:
		return -1
	}
	return end
}
