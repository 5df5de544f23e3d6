package gotype

import (
	"math"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// Types that refer to each other are described once, in any order and on any goroutine.
func TestTypesAreDescribedOnce(t *testing.T) {
	type outer struct {
		In   struct{ Back *plain }
		Next []plain
	}
	var all sync.WaitGroup
	got := make([]*Type, 8)
	for i := range got {
		all.Go(func() { got[i] = Of(reflect.TypeFor[outer]()) })
	}
	all.Wait()
	for _, d := range got {
		require.Same(t, got[0], d)
	}
	plain := Of(reflect.TypeFor[plain]())
	require.Same(t, plain, got[0].Fields[1].Type.Elem)
	require.Same(t, plain, got[0].Fields[0].Type.Fields[0].Type.Elem)
	require.Same(t, plain, plain.Fields[1].Type.Elem)
}

func TestPlansAreMadeOnce(t *testing.T) {
	type loop struct{ next *loop }
	var plans Plans[int, loop]
	made := 0
	fill := func(k int, p *loop, of func(int) *loop) {
		made++
		p.next = of((k + 1) % 3)
	}
	p := plans.Of(1, fill)
	require.Same(t, p, p.next.next.next)
	require.Same(t, p.next, plans.Of(2, fill))
	require.Equal(t, 3, made)
}

func TestFields(t *testing.T) {
	pod := Of(reflect.TypeFor[corev1.Pod]())
	require.True(t, pod.Message)
	require.Equal(t, []string{"", "metadata", "spec", "status"}, []string{pod.Fields[0].JSON, pod.Fields[1].JSON, pod.Fields[2].JSON, pod.Fields[3].JSON})
	require.True(t, pod.Fields[0].Inline)
	require.Equal(t, []int{0, 1, 2, 3}, []int{pod.Fields[0].Number, pod.Fields[1].Number, pod.Fields[2].Number, pod.Fields[3].Number})
	require.Equal(t, []Realm{Open, Metadata, Open, Open}, []Realm{pod.Fields[0].Realm, pod.Fields[1].Realm, pod.Fields[2].Realm, pod.Fields[3].Realm})
	require.Equal(t, "kind", pod.Members[3].Name, "the members of embedded structs come last")
	require.False(t, Of(Time).Message)
	require.False(t, Of(reflect.TypeFor[handwritten]()).Message)
	require.True(t, Of(RawExtension).Message)
	require.Equal(t, JSON|Protobuf, Of(Quantity).Decodes)
	require.Equal(t, Text, Of(reflect.TypeFor[texted]()).Decodes)
}

// The members of a struct follow the rules of encoding/json, or the struct is odd.
func TestMembers(t *testing.T) {
	members := func(typ reflect.Type) (names []string) {
		for _, m := range Of(typ).Members {
			names = append(names, m.Name)
			require.Equal(t, m.Type.Go, typ.FieldByIndex(m.Index).Type)
		}
		return names
	}
	type inline struct {
		Shadow
		metav1.ObjectMeta `json:",inline"`
		B                 string `json:"-"`
		C                 string
		D                 string `json:"-,"` //nolint:staticcheck // the name is a dash
		hidden            string
	}
	_ = inline{}.hidden
	require.Equal(t, []string{"C", "-", "a", "name"}, members(reflect.TypeFor[inline]())[:4])
	require.Equal(t, Closed, Of(reflect.TypeFor[inline]()).Members[3].Realm)
	require.Equal(t, []string{"a"}, members(reflect.TypeFor[shadowed]()))
	type Text string
	sameName := reflect.StructOf([]reflect.StructField{{Name: "A", Type: FieldsV1, Tag: `json:"a"`}, {Name: "B", Type: FieldsV1, Tag: `json:"a"`}})
	for name, odd := range map[string]reflect.Type{
		"a quoted number": reflect.TypeFor[struct {
			A int `json:"a,string"`
		}](),
		"an odd name": reflect.TypeFor[struct {
			A int `json:"a b"`
		}](),
		"an embedded pointer":  reflect.TypeFor[struct{ *Shadow }](),
		"an embedded string":   reflect.TypeFor[struct{ Text }](),
		"an unexported struct": reflect.TypeFor[struct{ plain }](),
		"the same name twice":  sameName,
	} {
		require.True(t, Of(odd).OddJSON, name)
	}
	require.False(t, Of(reflect.TypeFor[inline]()).OddJSON)
}

func TestPrivateAndReferring(t *testing.T) {
	require.True(t, Of(reflect.TypeFor[struct{ A struct{ _ sync.Mutex } }]()).Private)
	require.False(t, Of(reflect.TypeFor[corev1.Pod]()).Private)
	require.False(t, Of(GoTime).Refers, "its time zone belongs to package time")
	require.True(t, Of(Quantity).Refers, "its text does not")
	require.False(t, Of(reflect.TypeFor[struct{ A, B int }]()).Refers)
	require.True(t, Of(reflect.TypeFor[[1]struct{ A *int }]()).Refers)
}

func TestPartsOf(t *testing.T) {
	small, big := resource.Quantity{}, quantity("123456789012345678901234567890")
	require.NoError(t, small.UnmarshalJSON([]byte(`"0.5"`)))
	p, ok := PartsOf(&small)
	require.True(t, ok)
	require.Empty(t, p.Text)
	require.Equal(t, "500m", small.String())
	require.Equal(t, "500m", p.Text)
	require.EqualValues(t, 500, float64(p.Value)*math.Pow10(int(p.Scale)+3))
	require.Equal(t, resource.DecimalSI, p.Format)
	_, ok = PartsOf(&big)
	require.False(t, ok)
	require.Equal(t, time.Duration(0), metav1.Duration{}.Duration)
}
