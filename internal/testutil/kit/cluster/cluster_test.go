package cluster

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

const seed = 7

func TestPodsAreTheSameInEachRun(t *testing.T) {
	a, b := New(seed, 500), New(seed, 500)
	for _, i := range []int{499, 0, 250} {
		require.Equal(t, a.Pod(i), b.Pod(i))
		require.Equal(t, a.Unique(i), b.Unique(i))
	}
	require.NotEqual(t, a.Pod(0), New(seed+1, 500).Pod(0))
	require.NotEqual(t, a.Pod(0), a.Pod(1))
}

func TestPodsHaveTheSizeOfRealOnes(t *testing.T) {
	m := New(seed, 2000)
	bytes, managed := 0, 0
	for i := range m.Pods() {
		pod := m.Pod(i)
		bytes += pod.Size()
		for _, f := range pod.ManagedFields {
			managed += len(f.FieldsV1.GetRawString())
		}
	}
	assert.InDelta(t, 7000, bytes/m.Pods(), 1000)
	assert.InDelta(t, 3500, managed/m.Pods(), 500)
}

func TestDatabasesHaveTheSizeOfRealOnes(t *testing.T) {
	m := New(seed, 0)
	const n = 500
	bytes := 0
	for i := range n {
		d := m.Database(i)
		text, err := json.Marshal(d)
		require.NoError(t, err)
		bytes += len(text)
		require.Equal(t, d, d.DeepCopy())
		require.Equal(t, d, m.Database(i))
	}
	assert.InDelta(t, 4000, bytes/n, 1000)
}

// The definition has every field of the Go type, because a server drops unknown fields.
func TestDatabaseMatchesItsDefinition(t *testing.T) {
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema property }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(DatabaseCRD, &crd))
	m := New(seed, 0)
	for i := range 500 {
		d := unstructured(m.Database(i))
		require.Empty(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema.unknown("", d))
	}
}

type property struct {
	Type                 string
	Properties           map[string]property
	AdditionalProperties *property
	Items                *property
}

// unknown returns the paths of fields that are not in the schema.
func (p property) unknown(path string, value any) (paths []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			switch known, ok := p.Properties[name]; {
			case ok:
				paths = append(paths, known.unknown(path+"."+name, below)...)
			case p.AdditionalProperties == nil && path != ".metadata":
				paths = append(paths, path+"."+name)
			}
		}
	case []any:
		for _, item := range value {
			paths = append(paths, p.Items.unknown(path+"[]", item)...)
		}
	}
	return paths
}

func TestKindsAreTwenty(t *testing.T) {
	kinds := New(seed, 1000).Kinds()
	require.Len(t, kinds, 20)
	total, seen := 0, map[string]bool{}
	for _, k := range kinds {
		total += k.Count
		for i := range k.Count {
			object := k.Make(i)
			key := k.Stored + "/" + object.GetNamespace() + "/" + object.GetName()
			require.False(t, seen[key] || seen[string(object.GetUID())], key)
			seen[key], seen[string(object.GetUID())] = true, true
			gvk, _, err := scheme.Scheme.ObjectKinds(object)
			require.NoError(t, err)
			require.Equal(t, object.GetObjectKind().GroupVersionKind(), gvk[0])
			require.Equal(t, k.Resource.GroupVersion(), gvk[0].GroupVersion())
			require.NotEmpty(t, object.GetManagedFields())
			require.True(t, json.Valid(object.GetManagedFields()[0].FieldsV1.GetRawBytes()))
		}
		require.Equal(t, k.Make(0), k.Make(0))
	}
	require.Equal(t, 3000, total)
}

func TestNamesAreDifferent(t *testing.T) {
	m := New(seed, 5000)
	seen := map[string]bool{}
	for i := range m.Pods() {
		pod, unique := m.Pod(i), m.Unique(i)
		for _, name := range []string{pod.Namespace + "/" + pod.Name, unique.Name, string(pod.UID), string(unique.UID)} {
			require.False(t, seen[name], name)
			seen[name] = true
		}
	}
}

func TestUniquePodsShareNothing(t *testing.T) {
	m := New(seed, 300)
	kept := map[string]bool{"v1": true, "Pod": true}
	seen := map[string]bool{}
	for i := range m.Pods() {
		pod := m.Unique(i)
		kept[pod.Namespace] = true
		texts(reflect.ValueOf(*pod), func(s string) {
			require.False(t, seen[s], s)
			seen[s] = !kept[s]
		})
	}
	require.Greater(t, len(seen), 100*m.Pods())
}

// texts calls f with all non-empty strings in a value.
func texts(v reflect.Value, f func(string)) {
	switch v.Kind() {
	case reflect.String:
		if v.String() != "" {
			f(v.String())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			texts(v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), f)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			texts(key, f)
			texts(v.MapIndex(key), f)
		}
	case reflect.Struct:
		if q, ok := v.Interface().(resource.Quantity); ok {
			f(q.String())
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				texts(v.Field(i), f)
			}
		}
	}
}

func TestManagedFieldsAreJSON(t *testing.T) {
	m := New(seed, 50)
	for i := range m.Pods() {
		for _, f := range append(m.Pod(i).ManagedFields, m.Unique(i).ManagedFields...) {
			require.True(t, json.Valid(f.FieldsV1.GetRawBytes()), f.FieldsV1.GetRawString())
		}
	}
}
