package protodecode

import (
	"hash/maphash"
	"reflect"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// value decodes a message with the code for its type.
func (w *walk) value(p *plan, dst unsafe.Pointer, b []byte) bool {
	switch p.form {
	case formTable:
		return w.message(p, dst, b)
	case formTime:
		t, _, ok := timestamp(b)
		if ok && len(b) > 0 {
			(*metav1.Time)(dst).Time = time.Unix(t, 0).Local()
		}
		return ok
	case formMicroTime:
		t, nanos, ok := timestamp(b)
		if ok && len(b) > 0 {
			(*metav1.MicroTime)(dst).Time = time.Unix(t, int64(nanos.Truncate(time.Microsecond))).Local()
		}
		return ok
	case formQuantity:
		return w.quantityAt((*resource.Quantity)(dst), b)
	}
	return w.foreign(p, dst, b)
}

// timestamp reads seconds and nanoseconds.
func timestamp(b []byte) (seconds int64, nanos time.Duration, ok bool) {
	for i := 0; i < len(b); {
		v, next := varint(b, i+1)
		if next == 0 {
			return 0, 0, false
		}
		switch b[i] {
		case 1<<3 | wireVarint:
			seconds = int64(v) //nolint:gosec // negative numbers are encoded this way
		case 2<<3 | wireVarint:
			nanos = time.Duration(int32(v)) //nolint:gosec // truncated as in the generated code
		default:
			return 0, 0, false
		}
		i = next
	}
	return seconds, nanos, true
}

// foreign calls the type's own Unmarshal. It runs without the table's lock, because it may call the
// informer.
func (w *walk) foreign(p *plan, dst unsafe.Pointer, b []byte) (ok bool) {
	u, is := reflect.NewAt(p.typ, dst).Interface().(unmarshaler)
	w.size += 2 * len(b)
	if is {
		w.table.Unlocked(func() { ok = u.Unmarshal(b) == nil })
	}
	return ok
}

// empty makes an empty slice or map for a type that is not a struct, as the generated code does for a
// value outside of a message.
func (p *plan) empty(dst unsafe.Pointer) {
	if p.form != formForeign {
		return
	}
	switch v := reflect.NewAt(p.typ, dst).Elem(); v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(p.typ, 0, 0))
	case reflect.Map:
		v.Set(reflect.MakeMap(p.typ))
	}
}

// quantities caches parsed quantities by hash, because parsing is slow.
type quantities struct {
	seed  maphash.Seed
	slots []parsed
}

type parsed struct {
	text  string
	value resource.Quantity
}

const quantitySlots = 256

// quantityAt decodes a quantity. A quantity beyond int64 is not shared: its copies point to the same
// number, and arithmetic writes into it.
func (w *walk) quantityAt(dst *resource.Quantity, b []byte) bool {
	if len(b) == 0 {
		return true
	}
	start, end := content(b, 1)
	if b[0] != 1<<3|wireBytes || end != len(b) {
		return false
	}
	slot := w.quantities.slot(b[start:end])
	if slot.text == string(b[start:end]) && slot.text != "" {
		*dst = slot.value
		return true
	}
	text := string(b[start:end])
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return false
	}
	if _, shareable := gotype.PartsOf(&q); !shareable {
		w.owner = ownerOne
	} else {
		*slot = parsed{text, q}
	}
	*dst = q
	return true
}

func (q *quantities) slot(text []byte) *parsed {
	if q.slots == nil {
		q.seed, q.slots = maphash.MakeSeed(), make([]parsed, quantitySlots)
	}
	return &q.slots[maphash.Bytes(q.seed, text)%quantitySlots]
}
