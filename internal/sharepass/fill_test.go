package sharepass

import (
	"math"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// filler fills objects at random. It chooses from few values, so that many values are equal.
type filler struct{ r *rand.Rand }

func (f filler) fill(v reflect.Value, depth int) {
	switch v.Type() {
	case gotype.GoTime:
		v.Set(reflect.ValueOf(f.time()))
		return
	case gotype.Quantity:
		v.Set(reflect.ValueOf(f.quantity()))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(f.r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.r.IntN(3) - 1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.r.IntN(3)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 0.5}[f.r.IntN(3)])
	case reflect.String:
		v.SetString([]string{"", "a", "longer", "\x00\xff"}[f.r.IntN(4)])
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && f.r.IntN(3) > 0 {
				f.fill(v.Field(i), depth)
			}
		}
	default:
		if depth > 0 && f.r.IntN(4) > 0 {
			f.reference(v, depth-1)
		}
	}
}

func (f filler) reference(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth)
	case reflect.Slice:
		n := f.r.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n+f.r.IntN(2)))
		for i := range n {
			f.fill(v.Index(i), depth)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.r.IntN(3) {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, 0)
			f.fill(elem, depth)
			v.SetMapIndex(key, elem)
		}
	}
}

func (f filler) time() time.Time {
	at := time.Unix(int64(f.r.IntN(2)), int64(f.r.IntN(2)))
	return []time.Time{{}, at, at.UTC(), at.In(time.FixedZone("X", 60)), time.Time{}.Local(), time.Now()}[f.r.IntN(6)]
}

func (f filler) quantity() resource.Quantity {
	q := resource.MustParse([]string{"0", "1", "250m", "1Gi", "1000m", "0.1234567891234"}[f.r.IntN(6)])
	switch f.r.IntN(4) {
	case 0:
		_ = q.String()
	case 1:
		q.AsDec()
	}
	return q
}

// untyped returns a value as in an unstructured object.
func (f filler) untyped(depth int) any {
	keys := []string{"a", "b", "metadata", "data", "nodeSelector", "managedFields", "fieldsV1", "labels"}
	switch f.r.IntN(8 + depth*4) {
	case 0:
		return nil
	case 1:
		return f.r.IntN(2) == 0
	case 2:
		return int64(f.r.IntN(2))
	case 3:
		return float64(f.r.IntN(2))
	case 4, 5, 6:
		return []string{"", "a", "longer"}[f.r.IntN(3)]
	case 7:
		return []any{map[string]any(nil), []any(nil), map[string]any{}, []any{}}[f.r.IntN(4)]
	}
	if f.r.IntN(3) == 0 {
		l := make([]any, f.r.IntN(3))
		for i := range l {
			l[i] = f.untyped(depth - 1)
		}
		return l
	}
	m := map[string]any{}
	for range f.r.IntN(4) {
		m[keys[f.r.IntN(len(keys))]] = f.untyped(depth - 1)
	}
	return m
}
