package protodecode

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// Magic precedes the envelope of every object in protobuf.
const Magic = "k8s\x00"

// Options configure a decoder.
type Options struct {
	// Table holds the shared values. If it is nil, nothing is shared.
	Table *share.Table
	// Values enables sharing of nested values. Otherwise only strings are shared.
	Values bool
	// Drop holds the fields to drop. A nil set drops nothing.
	Drop *fields.Set
	// Secret keeps all strings of the objects out of the table.
	Secret bool
}

// Decoder decodes the objects of one type. It is safe for concurrent use.
type Decoder struct {
	object  reflect.Type
	options Options

	planned sync.Once
	plan    *plan // made by planOnce
	walks   sync.Pool
}

// New returns a decoder for a struct type with a generated Unmarshal. The decoder makes its plans when
// it decodes the first object.
func New(object reflect.Type, o Options) *Decoder {
	return &Decoder{object: object, options: o}
}

// Decode returns a pointer to a new object of the decoder's type. The object does not refer to data.
func (d *Decoder) Decode(data []byte) (any, error) {
	if d.planOnce() == nil {
		return nil, fmt.Errorf("%w: %v", ErrNotProto, d.object)
	}
	switch object, ended := d.byPlan(data); ended {
	case endGood:
		return object, nil
	case endTooDeep:
		return nil, ErrTooDeep
	}
	return d.generated(data)
}

// byPlan decodes an object by the plan of its type. The end is odd if the bytes are unusual for an API
// server, or if this package does not support the type.
func (d *Decoder) byPlan(data []byte) (any, end) {
	if d.planOnce().form != formTable {
		return nil, endOdd
	}
	object := reflect.New(d.object)
	ended := d.walk(object.UnsafePointer(), data)
	return object.Interface(), ended
}

// planOnce returns the plan of the object, or nil if the type has no generated Unmarshal.
func (d *Decoder) planOnce() *plan {
	d.planned.Do(func() {
		if d.object.Kind() == reflect.Struct && gotype.Of(d.object).Decodes&gotype.Protobuf != 0 {
			d.plan = build(d.object, d.options.Drop)
		}
	})
	return d.plan
}

// walk decodes into the memory of a new object.
func (d *Decoder) walk(object unsafe.Pointer, data []byte) end {
	w, ok := d.walks.Get().(*walk)
	if !ok {
		w = newWalk(d.options)
	}
	d.options.Table.Lock()
	defer d.options.Table.Unlock()

	w.begin()
	w.value(d.plan, object, data)
	ended := w.end // read it before another goroutine gets the walk
	d.walks.Put(w)
	return ended
}

// generated decodes with the type's own Unmarshal, into a new object. Unmarshal adds to the fields of an
// existing object, and would write into shared values.
func (d *Decoder) generated(data []byte) (object any, err error) {
	defer func() {
		if p := recover(); p != nil {
			object, err = nil, fmt.Errorf("%w: %v", ErrPanic, p)
		}
	}()
	v := reflect.New(d.object)
	if err := v.Interface().(unmarshaler).Unmarshal(data); err != nil { // the plan's construction asserted it
		return nil, err
	}
	d.options.Drop.Cut(v.Interface())
	return v.Interface(), nil
}
