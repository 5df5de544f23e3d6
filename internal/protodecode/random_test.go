package protodecode

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// filler fills objects at random. It chooses from few values, so that values recur.
type filler struct {
	*rand.Rand
}

func newFiller(seed uint64) *filler { return &filler{rand.New(rand.NewPCG(seed, 0))} }

// often of eight fields are filled.
const often = 5

func (f *filler) fill(v reflect.Value, depth int) {
	if f.known(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 && f.IntN(8) < often {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if gotype.Of(v.Type()).Fields[i].Number > 0 && f.IntN(8) < often {
				f.fill(v.Field(i), depth)
			}
		}
	case reflect.Slice:
		f.fillSlice(v, depth)
	case reflect.Map:
		f.fillMap(v, depth)
	default:
		f.fillScalar(v)
	}
}

func (f *filler) known(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		p.Time = time.Unix(f.Int64N(5), f.Int64N(2)).Local()
	case *metav1.MicroTime:
		p.Time = time.Unix(f.Int64N(5), f.Int64N(1e9)).Local()
	case *resource.Quantity:
		*p = resource.MustParse(quantityTexts[f.IntN(len(quantityTexts))])
	case *metav1.FieldsV1:
		p.SetRawString(fmt.Sprintf(`{"f:x%d":{}}`, f.IntN(4)))
	default:
		return false
	}
	return true
}

var quantityTexts = []string{"0", "1", "8", "100m", "8Gi", "1Gi", "1500Mi", "123456789012345678901234567890", "0.5", "1e3"}

func (f *filler) fillSlice(v reflect.Value, depth int) {
	n := f.IntN(4)
	if depth == 0 {
		return
	}
	if f.IntN(30) == 0 {
		n = 12
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		f.fill(v.Index(i), depth-1)
	}
}

func (f *filler) fillMap(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range f.IntN(4) {
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, 0)
		f.fill(elem, depth-1)
		v.SetMapIndex(key, elem)
	}
}

func (f *filler) fillScalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "a", "env-value", "registry.example.com/image:v1", "x\xffy", "long" + fmt.Sprint(f.IntN(9))}[f.IntN(6)])
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 8080, 1 << 30, -1 << 31}[f.IntN(6)])
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.IntN(256)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(f.Float64())
	default:
		panic("cannot fill a " + v.Type().String())
	}
}
