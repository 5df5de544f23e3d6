package jsondecode

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

func (d *Typed) bytes(v reflect.Value, i uint32) bool {
	k := d.text.tokens[i].kind
	if k != kindString && k != kindEscaped {
		return false
	}
	s := d.text.content(i)
	b := make([]byte, base64.StdEncoding.DecodedLen(len(s)))
	n, err := base64.StdEncoding.Decode(b, s)
	if err != nil {
		return false
	}
	d.size += 24 + len(b)
	v.SetBytes(b[:n:n])
	return true
}

func (d *Typed) time(t *metav1.Time, i uint32) bool {
	k := d.text.tokens[i].kind
	if k != kindString && k != kindEscaped {
		return false
	}
	parsed, err := time.Parse(time.RFC3339, string(d.text.content(i)))
	t.Time = parsed.Local()
	return err == nil
}

func (d *Typed) quantity(v reflect.Value, i uint32) bool {
	q := v.Addr().Interface().(*resource.Quantity)
	if q.UnmarshalJSON(d.text.raw(i)) != nil {
		return false
	}
	if _, ok := gotype.PartsOf(q); d.keeping > 0 && !ok {
		d.mutable = true
	}
	return true
}

func (d *Typed) intOrString(v *intstr.IntOrString, i uint32) bool {
	switch d.text.tokens[i].kind {
	case kindString:
		v.Type, v.StrVal = intstr.String, d.string(i, keys())
		return true
	case kindInt:
		n, ok := integer(d.text.raw(i))
		if ok && int64(int32(n)) == n { //nolint:gosec // the condition tests for overflow
			v.Type, v.IntVal = intstr.Int, int32(n)
			return true
		}
	}
	return v.UnmarshalJSON(d.text.raw(i)) == nil
}

// unmarshaler calls a type's UnmarshalJSON. An unknown type gets a copy of the bytes, because it may
// keep them. It is called without the table's lock, because it may call the informer.
func (d *Typed) unmarshaler(p *plan, v reflect.Value, i uint32, drop *fields.Set) (ok bool) {
	raw, into := d.text.without(i, drop), v.Addr().Interface().(json.Unmarshaler)
	if !p.known {
		own := slices.Clone(raw)
		d.options.Table.Unlocked(func() { ok = into.UnmarshalJSON(own) == nil })
		return ok
	}
	if into.UnmarshalJSON(raw) != nil {
		return false
	}
	clip(v)
	return true
}
