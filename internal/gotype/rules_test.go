package gotype

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type coded struct{ A []string }

func (c *coded) UnmarshalJSON([]byte) error { return nil }

type texted struct{ A []string }

func (t *texted) UnmarshalText([]byte) error { return nil }

// handwritten has an Unmarshal that is not generated.
type handwritten struct{ A []string }

func (h *handwritten) Unmarshal([]byte) error { return nil }

// generated has an Unmarshal that decodes its fields by their tags.
type generated struct {
	A []string `protobuf:"bytes,1,rep,name=a"`
	B string   `json:"-" protobuf:"bytes,2,opt,name=b"`
}

func (g *generated) Unmarshal([]byte) error { return nil }

type memo struct {
	A      []string `json:"a"`
	Answer *string  `json:"-"`
}

type lazy struct {
	A    []string `json:"a"`
	kept []string
}

type shadowed struct {
	Shadow
	A []string `json:"a"`
}

type Shadow struct {
	A []string `json:"a"`
}

type templated struct {
	Metadata struct{ A []string } `json:"metadata"`
}

type selecting struct {
	NodeSelector map[string]string `json:"nodeSelector"`
}

type plain struct {
	A map[string][]string `json:"a"`
	B *plain              `json:"b"`
	C int
}

// examples are types for each rule that the rule decides.
var examples = [][]reflect.Type{
	{GoTime, Time, MicroTime, Duration, reflect.TypeFor[struct{ A metav1.Time }]()},
	{IntOrString},
	{RawExtension, FieldsV1},
	{}, // see TestQuantityOfAnotherLayout
	{Quantity, reflect.TypeFor[corev1.ResourceFieldSelector]()},
	{reflect.TypeFor[coded](), reflect.TypeFor[texted](), reflect.TypeFor[handwritten](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[struct{ C coded }]()},
	{reflect.TypeFor[any](), reflect.TypeFor[[2]string](), reflect.TypeFor[map[int]string](), reflect.TypeFor[chan int](), reflect.TypeFor[func()](), reflect.TypeFor[struct{ A any }]()},
	{reflect.TypeFor[memo](), reflect.TypeFor[lazy](), reflect.TypeFor[shadowed]()},
	{ObjectMeta, reflect.TypeFor[templated](), reflect.TypeFor[selecting](), reflect.TypeFor[struct{ T selecting }]()},
}

// Each rule decides a type that the rest of the table would decide differently.
func TestEachRuleIsNeeded(t *testing.T) {
	all := rules
	defer func() { rules = all }()
	require.Len(t, examples, len(rules))
	for i, r := range all {
		for _, example := range examples[i] {
			rules = all
			require.Equal(t, r.writers, writersOf(example), "%s: %v", r.what, example)
			rules = slices.Delete(slices.Clone(all), i, i+1)
			require.NotEqual(t, r.writers, writersOf(example), "without the rule that %s: %v", r.what, example)
		}
	}
}

func TestQuantityOfAnotherLayout(t *testing.T) {
	require.True(t, quantityKnown, "the layout of resource.Quantity has changed: quantities are no longer shared")
	require.False(t, hasParts(reflect.TypeFor[struct{ i int64 }]()))
	require.False(t, hasParts(reflect.TypeFor[struct{ i, d, s, f string }]()))
	quantityKnown = false
	defer func() { quantityKnown = true }()
	require.Equal(t, Programs, writersOf(Quantity))
	q := quantity("1")
	_, ok := PartsOf(&q)
	require.False(t, ok)
	saved := rules
	defer func() { rules = saved }()
	rules = slices.Delete(slices.Clone(rules), 3, 4)
	require.Equal(t, Getters, writersOf(Quantity), "without the rule")
}

func TestValuesThatAreNeverWritten(t *testing.T) {
	for _, free := range []reflect.Type{
		reflect.TypeFor[plain](), reflect.TypeFor[generated](), reflect.TypeFor[string](), reflect.TypeFor[*memo](), reflect.TypeFor[[]memo](),
		reflect.TypeFor[corev1.Container](), reflect.TypeFor[corev1.Volume](), reflect.TypeFor[corev1.Toleration](),
	} {
		require.Zero(t, writersOf(free), free)
	}
}

func TestShareable(t *testing.T) {
	_ = lazy{}.kept
	for shareable, types := range map[bool][]reflect.Type{
		true: {
			reflect.TypeFor[*plain](), reflect.TypeFor[[]plain](), reflect.TypeFor[map[string]plain](), reflect.TypeFor[[]*memo](), reflect.TypeFor[corev1.ResourceList](),
			reflect.TypeFor[map[string]corev1.ResourceFieldSelector](), reflect.TypeFor[*metav1.FieldsV1](),
		},
		false: {
			reflect.TypeFor[*memo](), reflect.TypeFor[[]memo](), reflect.TypeFor[map[string]memo](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[map[int]string](),
			reflect.TypeFor[[]corev1.ResourceFieldSelector](), reflect.PointerTo(Quantity), reflect.TypeFor[plain](), reflect.TypeFor[[]any](), reflect.TypeFor[netip.Addr](),
		},
	} {
		for _, typ := range types {
			require.Equal(t, shareable, Of(typ).Shareable(), typ)
		}
	}
}

// Each place decides a field that the rest of the table would decide differently.
func TestEachPlaceIsNeeded(t *testing.T) {
	defer func() { below = index(places) }()
	for i, p := range places {
		below = index(places)
		require.Equal(t, p.to, p.in.Below(p.name))
		below = index(slices.Delete(slices.Clone(places), i, i+1))
		require.NotEqual(t, p.to, p.in.Below(p.name), "without %v", p)
	}
}

func TestRealms(t *testing.T) {
	walk := func(names ...string) Realm {
		r := Open
		for _, name := range names {
			if name == "[]" {
				r = r.Elements()
			} else {
				r = r.Below(name)
			}
		}
		return r
	}
	for want, paths := range map[Realm][][]string{
		Open:     {{"spec"}, {"spec", "[]"}, {"metadata", "managedFields", "[]", "fieldsV1"}, {"labels"}, {"managedFields"}, {"Data"}, {""}},
		Metadata: {{"metadata"}, {"spec", "template", "metadata"}},
		Managed:  {{"metadata", "managedFields"}, {"metadata", "managedFields", "[]"}, {"metadata", "managedFields", "[]", "time"}},
		Closed:   {{"metadata", "labels"}, {"metadata", "labels", "managedFields"}, {"metadata", "[]"}, {"metadata", "[]", "managedFields"}, {"spec", "nodeSelector", "metadata"}},
		Payload:  {{"data"}, {"spec", "data", "metadata"}, {"metadata", "data"}, {"stringData", "[]"}, {"nodeSelector", "binaryData"}},
	} {
		for _, path := range paths {
			require.Equal(t, want, walk(path...), path)
		}
	}
	require.True(t, IsPayload("data"))
	require.False(t, IsPayload("metadata"))
}
