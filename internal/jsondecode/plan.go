package jsondecode

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A form selects the code that decodes values of a Go type.
type form uint8

const (
	formOdd         form = iota // apimachinery's decoder does it
	formString                  //
	formBool                    //
	formInt                     //
	formUint                    //
	formFloat                   //
	formStruct                  //
	formPointer                 //
	formSlice                   //
	formBytes                   // a slice of bytes, in base64
	formMap                     // with keys that are strings
	formStrings                 // is map[string]string
	formAny                     // is the empty interface
	formUnmarshaler             // has a method UnmarshalJSON
	formTime                    // is metav1.Time
	formQuantity                // is resource.Quantity
	formIntOrString             // is intstr.IntOrString
)

// plan describes the decoding of values of one Go type. A complete plan never changes.
type plan struct {
	typ     reflect.Type
	form    form
	elem    *plan      // of a pointer, a slice or a map
	site    share.Site // of the elements, where they are containers
	fields  []field
	byName  map[string]int
	mutable bool // programs or getters may write into a value of this type
	shared  bool // nothing in a value is mutable, so that it may be shared
}

// field is a field of a struct, or of a struct embedded in it.
type field struct {
	name    string
	index   []int
	plan    *plan
	site    share.Site
	guarded bool // by its type or its name; see package fields
	payload bool // see [fields.Payload]
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	objectMeta      = reflect.TypeFor[metav1.ObjectMeta]()
	fieldsV1        = reflect.TypeFor[metav1.FieldsV1]()
	quantity        = reflect.TypeFor[resource.Quantity]()
)

// wellKnown are the types that this package decodes without their UnmarshalJSON, or whose getters
// do not write.
var wellKnown = map[reflect.Type]form{
	reflect.TypeFor[metav1.Time]():          formTime,
	quantity:                                formQuantity,
	reflect.TypeFor[intstr.IntOrString]():   formIntOrString,
	reflect.TypeFor[metav1.MicroTime]():     formUnmarshaler,
	reflect.TypeFor[metav1.Duration]():      formUnmarshaler,
	reflect.TypeFor[runtime.RawExtension](): formUnmarshaler,
	fieldsV1:                                formUnmarshaler,
}

// plans holds the plans by type, for all decoders.
var plans struct {
	mu     sync.Mutex
	byType map[reflect.Type]*plan
}

// planOf returns the complete plan of a type.
func planOf(t reflect.Type) *plan {
	plans.mu.Lock()
	defer plans.mu.Unlock()

	if p := plans.byType[t]; p != nil {
		return p
	}
	m := planner{made: make(map[reflect.Type]*plan)}
	p := m.plan(t)
	if plans.byType == nil {
		plans.byType = make(map[reflect.Type]*plan)
	}
	for t, p := range m.made {
		p.shared = p.elem != nil && !p.elem.holdsMutable()
		plans.byType[t] = p
	}
	return p
}

// holdsMutable reports whether programs or getters write into a part of the value itself. The
// memory behind its pointers is judged when it is decoded, since most pointers are nil.
func (p *plan) holdsMutable() bool {
	if p.form == formStruct && slices.ContainsFunc(p.fields, func(f field) bool { return f.guarded || f.plan.holdsMutable() }) {
		return true
	}
	return p.mutable || p.form == formOdd
}

// planner makes the plans of a type and of all types in it.
type planner struct{ made map[reflect.Type]*plan }

func (m *planner) plan(t reflect.Type) *plan {
	if p := plans.byType[t]; p != nil {
		return p
	}
	if p := m.made[t]; p != nil {
		return p
	}
	p := &plan{typ: t}
	m.made[t] = p
	if f, ok := wellKnown[t]; ok {
		p.form = f
		p.mutable = f == formQuantity && decOf == nil
		return p
	}
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		switch {
		case reflect.PointerTo(t).Implements(unmarshaler):
			p.mutable = true
			if t.Name() != "" {
				p.form = formUnmarshaler
			}
			return p
		case reflect.PointerTo(t).Implements(textUnmarshaler):
			p.mutable = true
			return p
		}
	}
	m.byKind(p)
	return p
}

func (m *planner) byKind(p *plan) {
	switch p.typ.Kind() {
	case reflect.String:
		p.form = formString
		if p.typ == reflect.TypeFor[json.Number]() {
			p.form = formOdd
		}
	case reflect.Bool:
		p.form = formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.form = formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.form = formUint
	case reflect.Float32, reflect.Float64:
		p.form = formFloat
	case reflect.Interface:
		p.mutable = true
		if p.typ.NumMethod() == 0 {
			p.form = formAny
		}
	case reflect.Struct:
		p.form = formStruct
		m.structure(p)
	case reflect.Pointer, reflect.Slice, reflect.Map:
		m.container(p)
	default:
		p.mutable = true
	}
}

func (m *planner) container(p *plan) {
	t := p.typ
	p.elem = m.plan(t.Elem())
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		p.form = formBytes
	case t.Kind() == reflect.Slice:
		p.form = formSlice
	case t.Kind() == reflect.Map && t == reflect.TypeFor[map[string]string]():
		p.form = formStrings
	case t.Kind() == reflect.Map:
		if key := t.Key(); key.Kind() == reflect.String && !reflect.PointerTo(key).Implements(textUnmarshaler) {
			p.form = formMap
		}
	case t.Name() != "" || t.Elem().Kind() == reflect.Pointer || t.Elem().Kind() == reflect.Interface:
		// A pointer to a pointer, or with methods of its own.
	default:
		p.form = formPointer
	}
	p.site = share.NewSite(t.String() + "[]")
}

// structure plans the fields of a struct and of the structs embedded in it, by the simple rules
// of encoding/json: of two fields with the same name, the less deeply embedded field counts. A
// struct that needs the other rules is odd.
func (m *planner) structure(p *plan) {
	p.byName = make(map[string]int)
	for current := []reflect.StructField{{Type: p.typ}}; len(current) > 0; {
		var next []reflect.StructField
		names := make(map[string]bool)
		for _, outer := range current {
			for i := range outer.Type.NumField() {
				f := outer.Type.Field(i)
				f.Index = append(outer.Index[:len(outer.Index):len(outer.Index)], i)
				if embeds(f) {
					next = append(next, f)
				} else {
					m.field(p, f, names)
				}
			}
		}
		current = next
	}
}

// embeds reports whether the fields of a field count as fields of its struct.
func embeds(f reflect.StructField) bool {
	tag := f.Tag.Get("json")
	return f.Anonymous && f.IsExported() && f.Type.Kind() == reflect.Struct && (tag == "" || tag[0] == ',')
}

// field plans a field. Names holds the names of the fields at its depth.
func (m *planner) field(p *plan, f reflect.StructField, names map[string]bool) {
	tag := f.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-": // a method may keep something in it that belongs to one object
		p.mutable = true
		return
	case f.Anonymous && (name == "" || !f.IsExported()):
		p.form = formOdd
		return
	case !f.IsExported():
		p.mutable = true
		return
	case name == "":
		name = f.Name
	}
	if names[name] || strings.Contains(options, "string") || strings.ContainsFunc(name, odd) {
		p.form = formOdd
	}
	names[name] = true
	if _, hidden := p.byName[name]; hidden { // JSON does not reach it either
		p.mutable = true
		return
	}
	p.byName[name] = len(p.fields)
	p.fields = append(p.fields, field{
		name:    name,
		index:   f.Index,
		plan:    m.plan(f.Type),
		site:    share.NewSite(p.typ.Name() + "." + name),
		guarded: f.Type == objectMeta || name == "metadata" || fields.Written(name) || within(p.typ, f.Index, objectMeta),
		payload: fields.Payload(name),
	})
}

// within reports whether a field stands in an embedded struct of a type.
func within(t reflect.Type, index []int, embedded reflect.Type) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t == embedded {
			return true
		}
	}
	return t == embedded
}

// odd reports whether encoding/json may ignore the name of a field.
func odd(r rune) bool {
	plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("$-_./:@", r)
	return !plain
}
