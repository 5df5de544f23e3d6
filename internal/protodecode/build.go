package protodecode

import (
	"reflect"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// plans holds the plans of all decoders. Their number is limited by the fields that a program drops:
// equal paths make equal sets of fields.
var plans gotype.Plans[planKey, plan]

// build returns the plan of a message and of all messages in it.
func build(t reflect.Type, drop *fields.Set) *plan {
	return plans.Of(planKey{t, drop, gotype.Open}, func(k planKey, p *plan, of func(planKey) *plan) {
		t := gotype.Of(k.typ)
		*p = plan{typ: k.typ, form: formOf(t)}
		for n := range p.arrays {
			p.arrays[n] = reflect.ArrayOf(n, k.typ)
		}
		p.arrays[1] = k.typ // has the same memory layout, and reflect finds this type faster
		if p.form == formTable {
			builder{of}.fill(p, k, t)
		}
	})
}

// builder makes plans.
type builder struct{ of func(planKey) *plan }

// fill makes the table of a message.
func (b builder) fill(p *plan, k planKey, t *gotype.Type) {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Number == 0 {
			continue
		}
		for len(p.fields) <= f.Number {
			p.fields = append(p.fields, field{})
		}
		made := b.field(k, f)
		made.tag, made.tagLen = tagOf(f.Number, made.wire)
		if made.kind.occursOnce() {
			made.once = 1 << i // a message has at most 64 fields, plus an embedded TypeMeta
		}
		p.fields[f.Number] = made
	}
}

// tagOf encodes the number and the wire type of a field. The first byte is the lowest.
func tagOf(number int, wire uint8) (tag uint16, size int) {
	t := uint16(number)<<3 | uint16(wire) //nolint:gosec // the number is at most gotype.HighestNumber
	if t < 0x80 {
		return t, 1
	}
	return t&0x7f | 0x80 | t>>7<<8, 2
}

// field plans one field of message k.
func (b builder) field(k planKey, f *gotype.Field) field {
	made := field{typ: f.Type.Go, offset: f.Offset}
	below, leftOut := k.drop, false
	if !f.Inline {
		below, leftOut = k.drop.Of(f.JSON)
	}
	if leftOut {
		return made
	}
	realm := max(k.realm, f.Realm)
	b.shape(&made, f.Type, below, realm)
	if k.typ != gotype.FieldsV1 { // FieldsV1 is shared as a whole in any place
		made.reach = reachOf(&made, f.Type, realm)
	}
	made.sites()
	made.intern, made.payload = !unique(k.typ, f.JSON), realm == gotype.Payload
	return made
}

func (f *field) sites() {
	if f.reach == reachShared {
		f.values = share.NewSite()
	}
	if f.hasStrings() {
		f.strings = share.NewSite()
	}
	if f.kind >= kindStringMap {
		f.keys = share.NewSite()
	}
}

// unique reports whether a string differs in each object. A look-up would find nothing.
func unique(t reflect.Type, name string) bool {
	if t != gotype.ObjectMeta {
		return false
	}
	switch name {
	case "name", "uid", "resourceVersion", "selfLink":
		return true
	}
	return false
}

// shape decides how to decode a field of type t.
func (b builder) shape(f *field, t *gotype.Type, drop *fields.Set, r gotype.Realm) {
	if t.Kind == reflect.Struct || t.Decodes&gotype.Protobuf != 0 {
		f.kind, f.wire = kindMessage, wireBytes
		if drop != nil && t.Decodes&gotype.JSON != 0 {
			f.kind = kindUnknown // its JSON names differ from its field names
			return
		}
		f.sub = b.of(planKey{t.Go, drop, r})
		return
	}
	switch t.Kind {
	case reflect.Pointer:
		b.pointer(f, t.Elem, drop, r)
	case reflect.Slice:
		b.slice(f, t.Elem, drop, r)
	case reflect.Map:
		b.mapping(f, t, drop, r)
	default:
		f.kind, f.wire = scalar(t.Kind)
	}
}

func scalar(k reflect.Kind) (kind, uint8) {
	switch k {
	case reflect.String:
		return kindString, wireBytes
	case reflect.Bool:
		return kindBool, wireVarint
	case reflect.Int32, reflect.Uint32:
		return kind32, wireVarint
	case reflect.Int64, reflect.Uint64:
		return kind64, wireVarint
	case reflect.Float32:
		return kindFloat32, wireFixed32
	case reflect.Float64:
		return kindFloat64, wireFixed64
	}
	return kindUnknown, 0
}

func (b builder) pointer(f *field, elem *gotype.Type, drop *fields.Set, r gotype.Realm) {
	b.shape(f, elem, drop, r)
	switch f.kind {
	case kindString, kindBool, kind32, kind64, kindFloat32, kindFloat64:
		f.kind += kindStringPointer - kindString
	case kindMessage:
		f.kind = kindMessagePointer
	default:
		f.kind = kindUnknown
	}
}

func (b builder) slice(f *field, elem *gotype.Type, drop *fields.Set, r gotype.Realm) {
	if elem.Kind == reflect.Uint8 {
		f.kind, f.wire = kindBytes, wireBytes
		return
	}
	b.shape(f, elem, drop, r)
	switch f.kind {
	case kindString:
		f.kind = kindStrings
	case kindBool:
		f.kind = kindBools
	case kind32:
		f.kind = kind32s
	case kind64:
		f.kind = kind64s
	case kindMessage:
		f.kind = kindMessages
	default:
		f.kind = kindUnknown
	}
}

// mapping plans a map. The keys of a map differ, and are the names of dropped fields. Therefore the
// generated code decodes a map of messages with dropped fields.
func (b builder) mapping(f *field, t *gotype.Type, drop *fields.Set, r gotype.Realm) {
	b.shape(f, t.Elem, nil, r)
	f.elem, f.wire, f.drop = t.Elem.Go, wireBytes, drop
	switch {
	case t.Key.Kind != reflect.String:
		f.kind = kindUnknown
	case t.Go == reflect.TypeFor[map[string]string]():
		f.kind = kindStringMap
	case t.Go == reflect.TypeFor[map[string][]byte]():
		f.kind = kindBytesMap
	case (f.kind == kindMessage || f.kind == kindString) && drop == nil:
		f.kind = kindMap
	default:
		f.kind = kindUnknown
	}
}
