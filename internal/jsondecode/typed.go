package jsondecode

import (
	"reflect"
	"slices"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// Typed decodes objects of one Go type as typed clients do. It is safe for concurrent use, and decodes
// one object at a time.
type Typed struct {
	options Options
	plan    *plan

	mu      sync.Mutex // locked before the table
	text    text
	realm   gotype.Realm
	keeping int  // the number of values around this one that may be shared
	mutable bool // a value was decoded that must not be shared
	size    int  // approximate size of the decoded part of the object
}

// NewTyped returns a decoder of objects of a struct type.
func NewTyped(object reflect.Type, o Options) *Typed {
	return &Typed{options: o, plan: planOf(object)}
}

// Decode returns a pointer to the object in data. The object does not refer to data.
func (d *Typed) Decode(data []byte) (any, error) {
	if v, ok := d.DecodePlain(data); ok {
		return v, nil
	}
	v := reflect.New(d.plan.typ)
	own := slices.Clone(without(data, d.options.Drop)) // a type with an UnmarshalJSON may keep a part
	if err := utiljson.Unmarshal(own, v.Interface()); err != nil {
		return nil, err
	}
	return v.Interface(), nil
}

// DecodePlain is Decode for an object that needs nothing from apimachinery's decoder. It returns false
// for any other object.
func (d *Typed) DecodePlain(data []byte) (object any, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.plan.form != formStruct || !d.text.scan(data) || d.text.tokens[0].kind != kindObject {
		return nil, false
	}
	d.options.Table.Lock()
	defer d.options.Table.Unlock()
	defer d.text.clear()

	d.realm, d.keeping, d.mutable, d.size = gotype.Open, 0, false, 0
	v := reflect.New(d.plan.typ)
	ok = d.structure(d.plan, v.Elem(), 0, d.options.Drop)
	return v.Interface(), ok
}

// value decodes one value into v, which is zero. site is its site, and drop holds the fields to drop.
// value returns false if it cannot decode the value.
func (d *Typed) value(p *plan, v reflect.Value, i uint32, site share.Site, drop *fields.Set) bool {
	t := d.text.tokens[i]
	if t.kind == kindNull && p.form != formUnmarshaler && p.form != formIntOrString {
		return p.form != formOdd
	}
	switch p.form {
	case formStruct:
		return t.kind == kindObject && d.structure(p, v, i, drop)
	case formPointer, formSlice, formMap, formStrings:
		return d.container(p, v, i, site, drop)
	case formString:
		if t.kind != kindString && t.kind != kindEscaped {
			return false
		}
		v.SetString(d.string(i, site))
		return true
	case formAny:
		return d.any(v, i, drop)
	case formTime:
		return d.time(v.Addr().Interface().(*metav1.Time), i)
	case formQuantity:
		return d.quantity(v, i)
	case formIntOrString:
		return d.intOrString(v.Addr().Interface().(*intstr.IntOrString), i)
	case formUnmarshaler:
		return d.unmarshaler(p, v, i, drop)
	case formBytes:
		return d.bytes(v, i)
	}
	return d.scalar(p, v, i)
}

func (d *Typed) scalar(p *plan, v reflect.Value, i uint32) bool {
	t := d.text.tokens[i]
	switch {
	case p.form == formBool && (t.kind == kindTrue || t.kind == kindFalse):
		v.SetBool(t.kind == kindTrue)
		return true
	case p.form == formInt && t.kind == kindInt:
		n, ok := integer(d.text.raw(i))
		if !ok || v.OverflowInt(n) {
			return false
		}
		v.SetInt(n)
		return true
	case p.form == formUint && t.kind == kindInt:
		n, err := strconv.ParseUint(string(d.text.raw(i)), 10, 64)
		if err != nil || v.OverflowUint(n) {
			return false
		}
		v.SetUint(n)
		return true
	case p.form == formFloat && (t.kind == kindInt || t.kind == kindFloat):
		n, err := strconv.ParseFloat(string(d.text.raw(i)), p.typ.Bits())
		if err != nil || v.OverflowFloat(n) {
			return false
		}
		v.SetFloat(n)
		return true
	}
	return false
}

// structure decodes an object into a struct. It returns false if a field occurs twice: the second value
// would have to be merged into the first one.
func (d *Typed) structure(p *plan, v reflect.Value, self uint32, drop *fields.Set) bool {
	var met [4]uint64
	if len(p.fields) > 64*len(met) {
		return false
	}
	t := d.text.tokens[self]
	for i, likely := self+1, 0; i < t.next; {
		at, known := p.find(d.text.content(i), likely)
		value := i + 1
		i = d.text.tokens[value].next
		if !known {
			continue
		}
		likely = at + 1
		if met[at/64]&(1<<(at%64)) != 0 {
			return false
		}
		met[at/64] |= 1 << (at % 64)
		if !d.field(&p.fields[at], v, value, drop) {
			return false
		}
	}
	return true
}

// find returns the position of the field with a name. It first tries the next fields, because servers
// write fields in order.
func (p *plan) find(name []byte, likely int) (at int, known bool) {
	for at := likely; at < min(likely+3, len(p.fields)); at++ {
		if p.fields[at].name == string(name) {
			return at, true
		}
	}
	at, known = p.byName[string(name)]
	return at, known
}

func (d *Typed) field(f *field, v reflect.Value, i uint32, drop *fields.Set) bool {
	below, leftOut := drop.Of(f.name)
	if leftOut {
		return true
	}
	outer := d.realm
	d.realm = max(outer, f.realm)
	ok := d.value(f.plan, v.FieldByIndex(f.index), i, f.site, below)
	d.realm = outer
	return ok
}

func (d *Typed) string(i uint32, site share.Site) string {
	s := d.text.content(i)
	d.size += 16 + len(s)
	if d.options.withholds(d.realm == gotype.Payload) {
		return string(s)
	}
	return d.options.Table.String(site, s)
}

// container decodes a shareable value, unless the table has an equal value.
func (d *Typed) container(p *plan, v reflect.Value, i uint32, site share.Site, drop *fields.Set) bool {
	if !p.shared {
		d.mutable = true
	}
	k := d.text.tokens[i].kind
	looked := (k == kindObject || k == kindArray) && d.options.Values && drop == nil && p.shared &&
		(d.realm == gotype.Open || p.always)
	if !looked {
		return d.build(p, v, i, site, drop)
	}
	raw := d.text.raw(i)
	found, mark := d.options.Table.Find(site, raw)
	if found != nil {
		v.Set(reflect.ValueOf(found))
		return true
	}
	if !mark.Wanted() {
		return d.build(p, v, i, site, drop)
	}
	return d.keep(p, v, i, site, mark)
}

// keep decodes a value and stores it in the table, unless a part of it turns out to be mutable.
func (d *Typed) keep(p *plan, v reflect.Value, i uint32, site share.Site, mark share.Mark) bool {
	size, mutable := d.size, d.mutable
	d.mutable = false
	d.keeping++
	ok := d.build(p, v, i, site, nil)
	d.keeping--
	if ok && !d.mutable {
		d.options.Table.Keep(mark, site, d.text.raw(i), v.Interface(), d.size-size)
	}
	d.mutable = d.mutable || mutable
	return ok
}

func (d *Typed) build(p *plan, v reflect.Value, i uint32, site share.Site, drop *fields.Set) bool {
	k := d.text.tokens[i].kind
	switch {
	case p.form == formPointer:
		d.size += int(p.elem.typ.Size())
		v.Set(reflect.New(p.elem.typ))
		return d.value(p.elem, v.Elem(), i, p.within(site), drop)
	case p.form == formSlice && k == kindArray:
		return d.slice(p, v, i, site, drop)
	case p.form == formStrings && k == kindObject && drop == nil:
		return d.strings(v.Addr().Interface().(*map[string]string), i, site)
	case p.form != formSlice && k == kindObject:
		return d.mapping(p, v, i, site, drop)
	}
	return false
}

// within returns the site of the values in a container. Strings have the container's own site, because
// equal strings may be shared in any place.
func (p *plan) within(site share.Site) share.Site {
	if p.elem.form == formString {
		return site
	}
	return p.site
}

func (d *Typed) slice(p *plan, v reflect.Value, self uint32, site share.Site, drop *fields.Set) bool {
	t := d.text.tokens[self]
	n := d.text.count(self)
	v.Set(reflect.MakeSlice(p.typ, n, n))
	d.size += 24 + n*int(p.elem.typ.Size())
	for i, at := self+1, 0; i < t.next; i, at = d.text.tokens[i].next, at+1 {
		if !d.value(p.elem, v.Index(at), i, p.within(site), drop) {
			return false
		}
	}
	return true
}

func (d *Typed) strings(m *map[string]string, self uint32, site share.Site) bool {
	t := d.text.tokens[self]
	n := d.text.count(self)
	*m = make(map[string]string, n)
	d.size += sizeOfMap(n, 32)
	for i := self + 1; i < t.next; i += 2 {
		key, value := d.string(i, keys()), ""
		switch d.text.tokens[i+1].kind {
		case kindString, kindEscaped:
			value = d.string(i+1, site)
		case kindNull:
		default:
			return false
		}
		(*m)[key] = value
	}
	return true
}

func (d *Typed) mapping(p *plan, v reflect.Value, self uint32, site share.Site, drop *fields.Set) bool {
	t := d.text.tokens[self]
	n := d.text.count(self)
	v.Set(reflect.MakeMapWithSize(p.typ, n))
	d.size += sizeOfMap(n, int(16+p.elem.typ.Size()))
	key, elem := reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ).Elem()
	for i := self + 1; i < t.next; {
		name, value := d.string(i, keys()), i+1
		i = d.text.tokens[value].next
		below, leftOut := drop.Of(name)
		if leftOut {
			continue
		}
		key.SetString(name)
		elem.SetZero()
		if !d.value(p.elem, elem, value, p.within(site), below) {
			return false
		}
		v.SetMapIndex(key, elem)
	}
	return true
}

// clip removes the spare capacity of a RawExtension or FieldsV1. Otherwise two programs that append to
// shared bytes would write into the same memory.
func clip(v reflect.Value) {
	if v.Kind() != reflect.Struct || v.Field(0).Kind() != reflect.Slice {
		return
	}
	raw := v.Field(0)
	raw.SetCap(raw.Len())
}

// any decodes the value of an interface, which is never shared.
func (d *Typed) any(v reflect.Value, i uint32, drop *fields.Set) bool {
	var value any
	if utiljson.Unmarshal(d.text.without(i, drop), &value) != nil {
		return false
	}
	if value != nil {
		v.Set(reflect.ValueOf(value))
	}
	return true
}
