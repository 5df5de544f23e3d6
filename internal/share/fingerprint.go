package share

import (
	"hash/maphash"
	"math"
	"reflect"
	"time"
)

// fingerprint hashes a value with everything that it refers to.
func (t *Table) fingerprint(value any) uint64 {
	return fingerprintOf(t.seed, reflect.ValueOf(value))
}

func fingerprintOf(seed maphash.Seed, v reflect.Value) uint64 {
	p := printer{}
	p.SetSeed(seed)
	p.value(v)
	return p.Sum64()
}

var location = reflect.TypeFor[*time.Location]()

// printer hashes values. Private fields count as well.
type printer struct{ maphash.Hash }

func (p *printer) value(v reflect.Value) {
	p.number(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			p.number(1)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.number(uint64(v.Int())) //nolint:gosec // its bits
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		p.number(math.Float64bits(v.Float()))
	case reflect.String:
		p.number(uint64(v.Len()))
		_, _ = p.WriteString(v.String()) // never fails
	case reflect.Struct:
		for i := range v.NumField() {
			p.value(v.Field(i))
		}
	case reflect.Array:
		p.elements(v)
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		p.reference(v)
	}
}

func (p *printer) reference(v reflect.Value) {
	if v.IsNil() {
		return
	}
	p.number(1)
	switch {
	case v.Type() == location:
		p.number(uint64(v.Pointer())) // what a place knows of itself changes as times are printed
	case v.Kind() == reflect.Slice:
		p.elements(v)
	case v.Kind() == reflect.Map:
		p.entries(v)
	default:
		p.value(v.Elem())
	}
}

func (p *printer) elements(v reflect.Value) {
	p.number(uint64(v.Len()))
	for i := range v.Len() {
		p.value(v.Index(i))
	}
}

// entries hashes a map. The order of its entries does not matter.
func (p *printer) entries(v reflect.Value) {
	var sum uint64
	for k, e := range v.Seq2() {
		entry := printer{}
		entry.SetSeed(p.Seed())
		entry.value(k)
		entry.value(e)
		sum += entry.Sum64()
	}
	p.number(sum)
}

func (p *printer) number(n uint64) { maphash.WriteComparable(&p.Hash, n) }
