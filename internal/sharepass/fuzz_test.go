package sharepass

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

// playTyped passes random objects, and compares each with a twin that was not passed. Some objects are
// copies of earlier objects, and some have fields of a foreign object.
func playTyped(t *testing.T, typ reflect.Type, objects int, r *rand.Rand) {
	pass, f := New(share.New(1<<20)), filler{r}
	var all, twins []runtime.Object
	foreign := reflect.New(typ)
	f.fill(foreign.Elem(), 6)
	frozen := foreign.Interface().(runtime.Object).DeepCopyObject()
	for range objects {
		v := reflect.New(typ)
		switch {
		case len(all) > 0 && r.IntN(2) == 0:
			v = reflect.ValueOf(twins[r.IntN(len(all))].DeepCopyObject())
		default:
			f.fill(v.Elem(), 6)
		}
		for i := range typ.NumField() {
			if r.IntN(4) == 0 {
				v.Elem().Field(i).Set(foreign.Elem().Field(i))
			}
		}
		o := v.Interface().(runtime.Object)
		twin := o.DeepCopyObject()
		if !reflect.DeepEqual(o, twin) {
			continue // such as a Quantity whose text DeepCopy drops
		}
		all, twins = append(all, pass.Share(o, o).(runtime.Object)), append(twins, twin)
		require.True(t, reflect.DeepEqual(twin, o), "what the transform has seen does not change")
	}
	for i := range all {
		require.True(t, reflect.DeepEqual(twins[i], all[i]), "%s\n%#v\n%#v", typ, twins[i], all[i])
	}
	if reflect.DeepEqual(frozen, foreign.Interface()) {
		checkApart(t, all, foreign.Interface())
	}
}

// checkApart fails if two objects share a value that programs write into, unless it is foreign.
func checkApart(t *testing.T, all []runtime.Object, foreign any) {
	seen, theirs := map[unsafe.Pointer]bool{}, map[unsafe.Pointer]bool{}
	written(reflect.ValueOf(foreign), "", false, func(p unsafe.Pointer, _ string) { theirs[p] = true })
	for _, o := range all {
		own := map[unsafe.Pointer]string{}
		written(reflect.ValueOf(o), "", false, func(p unsafe.Pointer, path string) { own[p] = path })
		for p, path := range own {
			assert.False(t, seen[p] && !theirs[p], "%T shares %s", o, path)
			seen[p] = true
		}
	}
}

// owns are the names of the fields that programs write into.
var owns = map[string]bool{"metadata": true, "data": true, "stringData": true, "binaryData": true, "nodeSelector": true}

// written reports the references in an object that programs write into.
func written(v reflect.Value, path string, in bool, report func(unsafe.Pointer, string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() || v.Type() == reflect.PointerTo(gotype.FieldsV1) {
			return
		}
		if in && (v.Kind() != reflect.Slice || v.Len() > 0) && (v.Kind() != reflect.Pointer || v.Type().Elem().Size() > 0) {
			report(v.UnsafePointer(), path)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		written(v.Elem(), path, in, report)
	case reflect.Slice:
		for i := range v.Len() {
			written(v.Index(i), path+"[]", in, report)
		}
	case reflect.Map:
		for _, e := range v.Seq2() {
			written(e, path+"{}", in, report)
		}
	case reflect.Struct:
		if v.Type() == gotype.GoTime || v.Type() == gotype.Quantity {
			return
		}
		in = in || v.Type() == gotype.ObjectMeta
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() {
				written(v.Field(i), path+"."+f.Name, in || owns[name], report)
			}
		}
	}
}

func FuzzPods(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		for more() {
			playTyped(t, reflect.TypeFor[corev1.Pod](), 6, r)
		}
	})
}

func FuzzUnstructured(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		pass, fill := New(share.New(1<<20)), filler{r}
		var all, twins []map[string]any
		for more() {
			o, _ := fill.untyped(5).(map[string]any)
			if len(all) > 0 && r.IntN(2) == 0 {
				o = runtime.DeepCopyJSON(twins[r.IntN(len(twins))])
			}
			if len(all) > 0 && o != nil && r.IntN(8) == 0 {
				o["foreign"] = all[r.IntN(len(all))]["a"]
			}
			u := &unstructured.Unstructured{Object: o}
			twins = append(twins, runtime.DeepCopyJSON(o))
			all = append(all, pass.Share(u, u).(*unstructured.Unstructured).Object)
		}
		require.True(t, reflect.DeepEqual(twins, all))
	})
}

// Two encodings are equal if and only if their values are equal.
func FuzzEncodingIsTheValue(f *testing.F) {
	type holder struct {
		A *corev1.PodSpec
		B map[string][]map[string]*int
		C [][]byte
	}
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		encode := func(h *holder) (string, bool) {
			var w walk
			v := reflect.ValueOf(h)
			apart := w.leaves(v.UnsafePointer(), planOf(v.Type().Elem()), 0)
			return string(w.buf), apart || w.failed
		}
		a, b := &holder{}, &holder{}
		for _, h := range []*holder{a, b} {
			filler{r}.fill(reflect.ValueOf(h).Elem(), 2+r.IntN(4))
		}
		if !more() {
			return
		}
		x, apartA := encode(a)
		y, apartB := encode(b)
		if !apartA && !apartB {
			require.Equal(t, reflect.DeepEqual(a, b), x == y)
		}
	})
}
