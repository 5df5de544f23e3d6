package wire

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// droppers are objects with all forms of fields: maps of strings, bytes and structs, lists, and types
// that decode themselves.
func droppers() []runtime.Object {
	meta := kit.RunningPod("web", 1).ObjectMeta
	capacity := map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
		"c": {Value: resource.MustParse("1"), RequestPolicy: &resourcev1.CapacityRequestPolicy{}}, "d": {Value: resource.MustParse("2")},
	}
	return []runtime.Object{
		kit.RunningPod("web", 1),
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": "b", "c": "d"}, BinaryData: map[string][]byte{"e": []byte("f"), "g": []byte("h")}},
		&appsv1.ControllerRevision{ObjectMeta: meta, Data: runtime.RawExtension{Raw: []byte(`{"e":12345678901234567890,"spec":{"a":[{"b":1,"c":"<&>"}],"d":1.50}}`)}},
		&resourcev1.ResourceSlice{ObjectMeta: meta, Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{{Name: "x", Capacity: capacity}, {Name: "y"}}}},
	}
}

// pathsIn adds the paths of the fields of a JSON value.
func pathsIn(value any, path string, paths map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if name == "" || strings.Contains(name, ".") {
				continue // no path can name it
			}
			paths[path+name] = true
			pathsIn(v, path+name+".", paths)
		}
	case []any:
		for _, v := range value {
			pathsIn(v, path, paths)
		}
	}
}

// withoutPath removes a field from a JSON value.
func withoutPath(value any, path []string) {
	switch value := value.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(value, path[0])
		} else {
			withoutPath(value[path[0]], path[1:])
		}
	case []any:
		for _, v := range value {
			withoutPath(v, path)
		}
	}
}

func generic(t *testing.T, text []byte) (value map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	require.NoError(t, d.Decode(&value))
	return value
}

func jsonOf(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// A dropped field is missing in the same way however the object arrives, as if the server had not sent
// it.
func TestDropIsTheSameInAllForms(t *testing.T) {
	for _, obj := range droppers() {
		typ := reflect.TypeOf(obj)
		text := jsonOf(t, obj)
		proto, err := obj.(interface{ Marshal() ([]byte, error) }).Marshal()
		require.NoError(t, err)
		paths := map[string]bool{}
		pathsIn(generic(t, text), "", paths)
		for n, path := range slices.Sorted(maps.Keys(paths)) {
			drop, err := fields.Parse(path)
			if err != nil || typ == typeOfPod && n%4 != 0 { // a Pod has many similar fields
				continue
			}
			left := generic(t, text)
			withoutPath(left, strings.Split(path, "."))
			want := reflect.New(typ.Elem()).Interface()
			require.NoError(t, json.Unmarshal(jsonOf(t, left), want))
			wanted := string(jsonOf(t, want))

			table := share.New(0)
			typed := NewDecoder(Objects{Type: typ}, Sharing{table, true}, drop)
			loose := NewDecoder(Objects{Type: Unstructured}, Sharing{table, true}, drop)
			for range 2 {
				fromJSON, err := typed.json.Decode(text)
				require.NoError(t, err, path)
				require.Equal(t, wanted, string(jsonOf(t, fromJSON)), "%v: %s from JSON", typ, path)
				odd, err := typed.json.Decode([]byte(`{"metadata":{},` + string(text[1:])))
				require.NoError(t, err, path)
				require.Equal(t, wanted, string(jsonOf(t, odd)), "%v: %s from odd JSON", typ, path)
				fromProtobuf, err := typed.protobuf.Decode(proto)
				require.NoError(t, err, path)
				require.Equal(t, wanted, string(jsonOf(t, fromProtobuf)), "%v: %s from protobuf", typ, path)
				untyped, err := loose.loose.Decode(text)
				require.NoError(t, err, path)
				require.Equal(t, withFloats(t, left), withFloats(t, untyped), "%v: %s untyped", typ, path)
			}
			require.Equal(t, wanted, string(jsonOf(t, cutCopy(drop, obj))), "%v: %s from a client", typ, path)
			u := &unstructured.Unstructured{Object: untypedOf(t, text)}
			require.Equal(t, withFloats(t, left), withFloats(t, cutCopy(drop, u).(*unstructured.Unstructured).Object), "%v: %s untyped, from a client", typ, path)
		}
	}
}

// cutCopy drops the fields of an object that a client has decoded, as the reflector does.
func cutCopy(drop *fields.Set, obj runtime.Object) runtime.Object {
	obj = obj.DeepCopyObject()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		drop.Cut(u.Object)
	} else {
		drop.Cut(obj)
	}
	return obj
}

func untypedOf(t *testing.T, text []byte) map[string]any {
	t.Helper()
	u, err := NewDecoder(Objects{Type: Unstructured}, Sharing{}, nil).loose.Decode(text)
	require.NoError(t, err)
	return u
}

// withFloats returns a JSON value as encoding/json decodes it.
func withFloats(t *testing.T, value any) (plain any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(jsonOf(t, value), &plain))
	return plain
}

// Reflectors with the same dropped fields share their plans, because a program may run any number of
// reflectors.
func TestDropIsPlannedOnce(t *testing.T) {
	text := jsonOf(t, kit.RunningPod("web", 1))
	proto, err := kit.RunningPod("web", 1).Marshal()
	require.NoError(t, err)
	run := func() {
		drop, err := fields.Parse("spec.containers.env", "metadata.managedFields")
		require.NoError(t, err)
		d := NewDecoder(Objects{Type: typeOfPod}, Sharing{share.New(0), true}, drop)
		_, err = d.json.Decode(text)
		require.NoError(t, err)
		_, err = d.protobuf.Decode(proto)
		require.NoError(t, err)
	}
	run()
	before := share.NewSite()
	run()
	run()
	require.Equal(t, before+1, share.NewSite(), "sites are never freed")
}

// part is an element of a map of structs.
type part struct {
	Name   string `json:"name,omitempty"`
	Secret string `json:"secret,omitempty"`
}

// coded decodes itself.
type coded struct{ fields map[string]string }

func (c *coded) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &c.fields) }
func (c coded) MarshalJSON() ([]byte, error)  { return json.Marshal(c.fields) }

// machined is a custom resource.
type machined struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Parts             map[string]part  `json:"parts,omitempty"`
	Numbered          map[int]part     `json:"numbered,omitempty"`
	Pointers          map[string]*part `json:"pointers,omitempty"`
	Fixed             [2]part          `json:"fixed"`
	Coded             coded            `json:"coded"`
	CodedMap          map[string]coded `json:"codedMap,omitempty"`
	Any               any              `json:"any,omitempty"`
	Untagged          map[string]map[string]part
	private           string
}

func (m *machined) DeepCopyObject() runtime.Object {
	c := &machined{}
	if err := json.Unmarshal(must(json.Marshal(m)), c); err != nil {
		panic(err)
	}
	c.private = m.private
	return c
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

func TestDropFromTypesOfPrograms(t *testing.T) {
	p := part{"n", "s"}
	m := &machined{
		Parts: map[string]part{"a": p, "b": p}, Numbered: map[int]part{1: p, 2: p}, Pointers: map[string]*part{"a": &p}, Fixed: [2]part{p, p},
		Coded: coded{map[string]string{"a": "b", "c": "d"}}, CodedMap: map[string]coded{"x": {map[string]string{"a": "b", "c": "d"}}},
		Any: map[string]any{"a": []any{map[string]any{"b": "c", "d": "e"}}}, Untagged: map[string]map[string]part{"a": {"b": p}}, private: "stays",
	}
	text := jsonOf(t, m)
	paths := map[string]bool{"private": true}
	pathsIn(generic(t, text), "", paths)
	require.Contains(t, paths, "parts.a.secret")
	for path := range paths {
		drop, err := fields.Parse(path)
		if err != nil {
			continue
		}
		left := generic(t, text)
		withoutPath(left, strings.Split(path, "."))
		want := &machined{}
		require.NoError(t, json.Unmarshal(jsonOf(t, left), want))
		d := NewDecoder(Objects{Type: reflect.TypeFor[*machined]()}, Sharing{share.New(0), true}, drop)
		for range 3 {
			got, err := d.json.Decode(text)
			require.NoError(t, err)
			require.Equal(t, want, got, path)
		}
		want.private = "stays"
		require.Equal(t, want, cutCopy(drop, m), path)
	}
}
