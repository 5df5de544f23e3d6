package protodecode

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

const (
	// highest is the highest field number in the tables: up to it, a tag has at most two bytes.
	highest = 2047
	// mostFields is the largest number of fields of a message that can be checked for occurring
	// twice.
	mostFields = 64
)

// plans holds the plans of all decoders. Their number is bounded by what a program leaves out: the
// same paths make the same set of fields.
var plans struct {
	sync.Mutex
	known map[planKey]*plan
}

// builder makes plans while it holds the lock of plans.
type builder struct{ known map[planKey]*plan }

// build returns the plan of a message with all messages in it.
func build(t reflect.Type, drop *fields.Set) *plan {
	plans.Lock()
	defer plans.Unlock()

	if plans.known == nil {
		plans.known = make(map[planKey]*plan)
	}
	b := builder{plans.known}
	return b.plan(planKey{t, drop, realmOpen})
}

func (b *builder) plan(k planKey) *plan {
	if k.typ == objectMetaType {
		k.realm = max(k.realm, realmClosed)
	}
	if p := b.known[k]; p != nil {
		return p
	}
	p := &plan{typ: k.typ, form: formOf(k.typ)}
	b.known[k] = p // before its fields: messages can hold themselves
	for n := range p.arrays {
		p.arrays[n] = reflect.ArrayOf(n, k.typ)
	}
	p.arrays[1] = k.typ // the same memory, and a type that reflect finds faster
	if p.form == formTable {
		b.fill(p, k)
	}
	return p
}

// fill makes the table of a message.
func (b *builder) fill(p *plan, k planKey) {
	for i := range k.typ.NumField() {
		f := k.typ.Field(i)
		number, ok := numberOf(f)
		if !ok {
			continue
		}
		for len(p.fields) <= number {
			p.fields = append(p.fields, field{})
		}
		made := b.field(k, f)
		made.tag, made.tagLen = tagOf(number, made.wire)
		if made.kind.occursOnce() {
			made.once = 1 << i // mostFields and an embedded TypeMeta: see formOf
		}
		p.fields[number] = made
	}
}

// numberOf reads the number of a field from its struct tag. It ignores the type in the tag, since
// some tags name a wrong one.
func numberOf(f reflect.StructField) (int, bool) {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(parts[1])
	return n, err == nil && n > 0 && n <= highest
}

// tagOf encodes the number and the wire type of a field, the first byte lowest.
func tagOf(number int, wire uint8) (tag uint16, size int) {
	t := uint16(number)<<3 | uint16(wire) //nolint:gosec // the number is at most highest
	if t < 0x80 {
		return t, 1
	}
	return t&0x7f | 0x80 | t>>7<<8, 2
}

// field plans one field of the message k.
func (b *builder) field(k planKey, f reflect.StructField) field {
	made := field{typ: f.Type, offset: f.Offset}
	name, inline := jsonName(f)
	below, leftOut := k.drop, false
	if !inline {
		below, leftOut = k.drop.Of(name)
	}
	if leftOut {
		return made
	}
	realm := k.realm
	switch {
	case fields.Payload(name):
		realm = realmPayload
	case fields.Written(name):
		realm = max(realm, realmClosed)
	}
	b.shape(&made, f.Type, below, realm)
	if k.typ != fieldsV1Type { // which is shared as a whole, wherever it is
		made.reach = reachOf(&made, realm)
	}
	b.sites(&made, k.typ.Name()+"."+f.Name)
	made.intern, made.payload = !unique(k.typ, name), realm == realmPayload
	return made
}

func (b *builder) sites(f *field, path string) {
	if f.reach == reachShared {
		f.values = share.NewSite(path)
	}
	if f.hasStrings() {
		f.strings = share.NewSite(path + " (strings)")
	}
	if f.kind >= kindStringMap {
		f.keys = share.NewSite(path + " (keys)")
	}
}

// jsonName returns the name of a field in JSON. Fields of an inlined message
// belong to the message around it.
func jsonName(f reflect.StructField) (name string, inline bool) {
	name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	if name == "" && !f.Anonymous {
		return f.Name, false
	}
	return name, name == ""
}

// unique reports whether a string differs in each object, so that a look-up would find nothing.
func unique(t reflect.Type, name string) bool {
	if t != objectMetaType {
		return false
	}
	switch name {
	case "name", "uid", "resourceVersion", "selfLink":
		return true
	}
	return false
}

// shape chooses the decoding of a field of type t.
func (b *builder) shape(f *field, t reflect.Type, drop *fields.Set, r realm) {
	if t.Kind() == reflect.Struct || hasUnmarshal(t) {
		f.kind, f.wire = kindMessage, wireBytes
		if drop != nil && decodesItself(t) { // its names in JSON are not those of its fields
			f.kind = kindUnknown
			return
		}
		f.sub = b.plan(planKey{t, drop, r})
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		b.pointer(f, t.Elem(), drop, r)
	case reflect.Slice:
		b.slice(f, t.Elem(), drop, r)
	case reflect.Map:
		b.mapping(f, t, drop, r)
	default:
		f.kind, f.wire = scalar(t)
	}
}

func scalar(t reflect.Type) (kind, uint8) {
	switch t.Kind() {
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

func (b *builder) pointer(f *field, elem reflect.Type, drop *fields.Set, r realm) {
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

func (b *builder) slice(f *field, elem reflect.Type, drop *fields.Set, r realm) {
	if elem.Kind() == reflect.Uint8 {
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

// mapping plans a map. Fields to leave out are named by the keys, which differ: a map of messages is
// left to the generated code.
func (b *builder) mapping(f *field, t reflect.Type, drop *fields.Set, r realm) {
	b.shape(f, t.Elem(), nil, r)
	f.elem, f.wire, f.drop = t.Elem(), wireBytes, drop
	switch {
	case t.Key().Kind() != reflect.String:
		f.kind = kindUnknown
	case t.Key() == stringType && t.Elem() == stringType:
		f.kind = kindStringMap
	case t.Key() == stringType && t.Elem() == bytesType:
		f.kind = kindBytesMap
	case (f.kind == kindMessage || f.kind == kindString) && drop == nil:
		f.kind = kindMap
	default:
		f.kind = kindUnknown
	}
}
