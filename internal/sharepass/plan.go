package sharepass

import (
	"reflect"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A form says how a leaf is encoded.
type form uint8

const (
	formOpaque form = iota // not encoded: a value that contains it is not shared, unless it is nil
	formBits               // a number or a bool
	formString
	formTime
	formQuantity
	formPointer
	formSlice
	formBytes
	formMap
)

// plan lists the leaves of a type: the fields, also of nested structs, in which the values of the type
// are encoded. A type other than a struct is its own only leaf. If a field cannot be encoded, values
// that contain it are not shared.
type plan struct{ leaves []leaf }

// leaf is a field that is not a struct. It is read at its offset, because calling reflect.Value.Field
// for each field would take most of a pass's time. It is written by its path.
type leaf struct {
	offset uintptr
	path   []int // field indices
	typ    reflect.Type
	form   form
	shared bool       // values of a pointer, slice or map may be shared at site
	site   share.Site // the site of the reference
	elem   *plan      // the plan of the values that a pointer, slice or map refers to
}

// planKey identifies a plan. A type has different plans in different realms.
type planKey struct {
	typ   reflect.Type
	realm gotype.Realm
}

var plans gotype.Plans[planKey, plan]

func planOf(t reflect.Type) *plan { return plans.Of(planKey{t, gotype.Open}, fill) }

func fill(k planKey, p *plan, of func(planKey) *plan) {
	p.add(leaf{}, gotype.Of(k.typ), k.realm, of)
}

// add appends the leaves of a type that stands in a place of a struct.
func (p *plan) add(where leaf, t *gotype.Type, realm gotype.Realm, of func(planKey) *plan) {
	if t.Kind != reflect.Struct || t.Go == gotype.GoTime || t.Go == gotype.Quantity {
		if l, ok := makeLeaf(where, t, realm, of); ok {
			p.leaves = append(p.leaves, l)
		}
		return
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Exported {
			p.add(where.field(f), f.Type, max(realm, f.Realm), of)
		}
	}
}

// field returns the place of a field of a struct.
func (l leaf) field(f *gotype.Field) leaf {
	return leaf{offset: l.offset + f.Offset, path: append(l.path[:len(l.path):len(l.path)], f.Index)}
}

// makeLeaf completes a leaf. Where programs write, only leaves on the way to a FieldsV1 are needed.
func makeLeaf(l leaf, t *gotype.Type, realm gotype.Realm, of func(planKey) *plan) (leaf, bool) {
	l.typ, l.form = t.Go, formOf(t)
	l.shared = t.Shareable() && (realm == gotype.Open || t.PointsToFieldsV1())
	switch {
	case realm != gotype.Open && !l.shared && (realm != gotype.Managed || l.form != formSlice),
		l.form == formOpaque && t.Kind != reflect.Interface:
		return l, false
	}
	switch l.form {
	case formPointer, formSlice, formMap:
		if t.Elem.Private {
			l.form = formOpaque
			break
		}
		if l.shared {
			realm = gotype.Open
		}
		l.elem = of(planKey{t.Elem.Go, realm})
		fallthrough
	case formBytes:
		l.site = share.NewSite()
	}
	return l, true
}

func formOf(t *gotype.Type) form {
	switch t.Go {
	case gotype.GoTime:
		return formTime
	case gotype.Quantity:
		return formQuantity
	}
	switch t.Kind {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return formBits
	case reflect.String:
		return formString
	case reflect.Pointer:
		return formPointer
	case reflect.Slice:
		if t.Elem.Kind == reflect.Uint8 {
			return formBytes
		}
		return formSlice
	case reflect.Map:
		if t.Writers == 0 {
			return formMap
		}
	}
	return formOpaque
}

// at returns the field at a path.
func at(v reflect.Value, path []int) reflect.Value {
	for _, i := range path {
		v = v.Field(i)
	}
	return v
}
