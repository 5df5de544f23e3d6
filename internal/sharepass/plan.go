package sharepass

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A form is the way a leaf is encoded.
type form uint8

const (
	formOpaque  form = iota // not encoded: a value that contains it is not shared
	formWritten             // opaque unless it is nil; it is not gone into
	formBits                // a number or a bool
	formString
	formTime
	formQuantity
	formPointer
	formSlice
	formBytes
	formMap
)

// plan lists the leaves of a type, in which its values are encoded, through all nested structs. A
// type other than a struct is its own only leaf.
type plan struct {
	leaves []leaf
	// sealed values are neither shared nor walked through: a copy of a lock, for instance, is
	// another lock.
	sealed bool
}

// leaf is a field of another type than a struct. It is read at its offset, because reflect's
// Value of each field would take most of a pass's time, and written by its path.
type leaf struct {
	offset uintptr
	path   []int // of indices of fields
	typ    reflect.Type
	form   form
	shared bool       // values of a pointer, slice or map may be shared at site
	site   share.Site // of the reference
	elem   *plan      // of the values in a pointer, slice or map
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	quantityType  = reflect.TypeFor[resource.Quantity]()
	objectMeta    = reflect.TypeFor[metav1.ObjectMeta]()
	managedFields = reflect.TypeFor[[]metav1.ManagedFieldsEntry]()
	fieldsV1      = reflect.TypeFor[*metav1.FieldsV1]()
	rawExtension  = reflect.TypeFor[runtime.RawExtension]()
)

// plans holds the plans by type.
var plans struct {
	mu     sync.Mutex
	byType map[reflect.Type]*plan
}

func planOf(t reflect.Type) *plan {
	plans.mu.Lock()
	defer plans.mu.Unlock()

	if plans.byType == nil {
		plans.byType = make(map[reflect.Type]*plan)
	}
	return makePlan(t)
}

// makePlan makes the plan of a type. It registers the plan before it is complete, because a type
// may contain itself. The caller holds plans.mu.
func makePlan(t reflect.Type) *plan {
	if p, known := plans.byType[t]; known {
		return p
	}
	p := &plan{}
	plans.byType[t] = p
	p.add(leaf{}, t, t.String(), false)
	return p
}

// add appends the leaves of a type at a place in a struct. With owned, programs write into the
// maps and slices at the place: it is in an ObjectMeta, or in a field such as data.
func (p *plan) add(where leaf, t reflect.Type, name string, owned bool) {
	where.typ = t
	if t.Kind() != reflect.Struct || t == timeType || t == quantityType {
		p.leaves = append(p.leaves, makeLeaf(where, name, owned))
		return
	}
	if t == objectMeta {
		p.leaves, owned = append(p.leaves, where), true // opaque
	}
	for i := range t.NumField() {
		f := t.Field(i)
		l := where.field(f)
		switch written := owns(f); {
		case !f.IsExported():
			p.sealed = true
		case kept(t, f):
			p.leaves = append(p.leaves, l) // opaque
		case written && nilable(f.Type.Kind()):
			l.form = formWritten
			p.leaves = append(p.leaves, l)
		case written && f.Type != objectMeta:
			p.leaves = append(p.leaves, l) // opaque
			p.add(l, f.Type, name+"."+f.Name, true)
		default:
			p.add(l, f.Type, name+"."+f.Name, owned)
		}
	}
}

// owns reports whether programs write into what a field holds, by its name in JSON. Templates may have
// a metadata of another type than ObjectMeta.
func owns(f reflect.StructField) bool {
	name := jsonName(f)
	return name == "metadata" || fields.Written(name)
}

// kept reports whether JSON does not reach a field: a method may keep something in it that belongs to
// one object.
func kept(t reflect.Type, f reflect.StructField) bool {
	return f.Tag.Get("json") == "-" && t != rawExtension && t != fieldsV1.Elem()
}

// field returns the place of a struct's field.
func (l leaf) field(f reflect.StructField) leaf {
	return leaf{offset: l.offset + f.Offset, path: append(l.path[:len(l.path):len(l.path)], f.Index...), typ: f.Type}
}

// makeLeaf completes a leaf. In an ObjectMeta, references are left out, except the way to
// FieldsV1.
func makeLeaf(l leaf, name string, owned bool) leaf {
	l.form = formOf(l.typ)
	switch l.form {
	case formPointer, formSlice, formMap:
		if owned && l.typ != managedFields {
			l.form = formWritten
			return l
		}
		l.elem = makePlan(l.typ.Elem())
		fallthrough
	case formBytes:
		l.site, l.shared = share.NewSite(name), !owned
	}
	if owned && l.typ == managedFields {
		l.elem = entryPlan(l.typ.Elem(), name)
	}
	return l
}

// entryPlan returns the plan of an entry of managedFields: FieldsV1 may be shared, the time may
// not.
func entryPlan(t reflect.Type, name string) *plan {
	p := &plan{}
	for i := range t.NumField() {
		if f := t.Field(i); f.Type == fieldsV1 {
			p.leaves = append(p.leaves, makeLeaf(leaf{}.field(f), name+"."+f.Name, false))
		}
	}
	return p
}

func formOf(t reflect.Type) form {
	switch t {
	case timeType:
		return formTime
	case quantityType:
		if quantityKnown {
			return formQuantity
		}
		return formOpaque
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return formBits
	case reflect.String:
		return formString
	case reflect.Interface:
		return formWritten
	case reflect.Pointer:
		return formPointer
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return formBytes
		}
		return formSlice
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return formMap
		}
	}
	return formOpaque
}

func nilable(k reflect.Kind) bool {
	return k == reflect.Map || k == reflect.Slice || k == reflect.Pointer || k == reflect.Interface
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// at returns the field at a path.
func at(v reflect.Value, path []int) reflect.Value {
	for _, i := range path {
		v = v.Field(i)
	}
	return v
}
