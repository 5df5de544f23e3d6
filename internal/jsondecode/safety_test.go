package jsondecode

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// sharing returns the paths at which two objects have the same map, array or pointer. It omits paths
// below a shared value.
func sharing(a, b any) []string {
	var paths []string
	walkBoth("", reflect.ValueOf(a), reflect.ValueOf(b), &paths)
	slices.Sort(paths)
	return paths
}

func walkBoth(path string, a, b reflect.Value, paths *[]string) {
	if a.Kind() == reflect.Interface || a.Kind() == reflect.Pointer && path == "" {
		if !a.IsNil() {
			walkBoth(path, a.Elem(), b.Elem(), paths)
		}
		return
	}
	if same(a, b) {
		requireNoRoom(path, a)
		*paths = append(*paths, path)
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			walkBoth(path, a.Elem(), b.Elem(), paths)
		}
	case reflect.Map:
		for _, k := range a.MapKeys() {
			walkBoth(fmt.Sprintf("%s.%s", path, k), a.MapIndex(k), b.MapIndex(k), paths)
		}
	case reflect.Slice:
		for i := range a.Len() {
			walkBoth(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i), paths)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type() != reflect.TypeFor[metav1.Time]() { // it points to a time zone
				walkBoth(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i), paths)
			}
		}
	}
}

// requireNoRoom panics if an array in a shared value has spare capacity. Two programs that append to it
// would overwrite each other's element.
func requireNoRoom(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*time.Location]() {
			requireNoRoom(path, v.Elem())
		}
	case reflect.Map:
		for key, e := range v.Seq2() {
			requireNoRoom(fmt.Sprintf("%s.%s", path, key), e)
		}
	case reflect.Slice:
		if v.Len() != v.Cap() {
			panic(path + " is shared and has spare capacity")
		}
		for i := range v.Len() {
			requireNoRoom(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			requireNoRoom(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

// same reports whether two values share their memory.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer, reflect.Map:
		return !a.IsNil() && a.Pointer() == b.Pointer()
	case reflect.Slice:
		return a.Cap() > 0 && a.Pointer() == b.Pointer()
	}
	return false
}

// twice decodes data until every shareable value is shared. It returns two of the objects.
func twice(t *testing.T, data string, decode func([]byte) (any, error)) (a, b any) {
	t.Helper()
	for range 6 {
		var err error
		a = b
		b, err = decode([]byte(data))
		require.NoError(t, err)
	}
	return a, b
}

// requireShared decodes data with many tables, because in each table two values may compete for a slot.
// All shared values must be at the wanted paths, and the value at each of these paths must be shared
// with at least one table.
func requireShared(t *testing.T, what, data string, want []string, decoder func(*share.Table) func([]byte) (any, error)) {
	t.Helper()
	met := map[string]bool{}
	for range 20 {
		for _, path := range sharing(twice(t, data, decoder(share.New(0)))) {
			met[path] = true
			within := slices.ContainsFunc(want, func(w string) bool {
				rest, ok := strings.CutPrefix(path, w)
				return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
			})
			require.True(t, within, "%s: %s is shared", what, path)
		}
	}
	for _, path := range want {
		require.True(t, met[path], "%s: %s is not shared", what, path)
	}
}

func untyped(o Options) func([]byte) (any, error) {
	d := NewUnstructured(o)
	return func(data []byte) (any, error) { return d.Decode(data) }
}

func TestUnstructuredSharesOnlyWhatIsSafe(t *testing.T) {
	for _, c := range []struct {
		what, data string
		want       []string
	}{
		{"objects and arrays", `{"spec":{"a":[1,[2]],"b":{"c":{"d":"e"}}}}`, []string{".spec"}},
		{"not the object itself", `{"a":"b"}`, nil},
		{"no metadata", `{"metadata":{"name":"n","labels":{"a":"b"},"annotations":{"a":"b"},"finalizers":["f"],"ownerReferences":[{"a":{"b":1}}]},"spec":{"a":1}}`, []string{".spec"}},
		{"except its managedFields", `{"metadata":{"managedFields":[{"fieldsV1":{"f:data":{},"f:metadata":{}}}],"labels":{"a":"b"}}}`, []string{".metadata.managedFields"}},
		{"deeper metadata, and no value that contains it", `{"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"a":[1]}},"x":[{"metadata":{"a":{}}},{"y":{"z":2}}]}}`,
			[]string{".spec.template.spec", ".spec.x[1]"}},
		{"metadata of another type", `{"spec":{"metadata":[{"a":1}],"x":{"y":1}}}`, []string{".spec.x"}},
		{"metadata as a string", `{"spec":{"a":{"metadata":"x"},"b":{"c":1}}}`, []string{".spec.b"}},
		{"metadata with an escape in its name", `{"spec":{"\u006detadata":{"labels":{"a":"b"}}}}`, nil},
		{"metadata in managedFields", `{"metadata":{"managedFields":[{"metadata":{"a":{}},"x":{"y":1}}]}}`, []string{".metadata.managedFields[0].x"}},
		{"managedFields in labels", `{"metadata":{"labels":{"managedFields":{"a":"b"}}}}`, nil},
		{"data", `{"data":{"a":{"b":1}},"stringData":{"c":{}},"binaryData":{"c":[1]},"x":{"y":1}}`, []string{".x"}},
		{"deeper data", `{"spec":{"x":{"data":{"a":[1]}},"y":[{"stringData":1}],"z":{"a":1}}}`, []string{".spec.z"}},
		{"metadata in data", `{"data":{"metadata":{"managedFields":[{"a":{}}]}}}`, nil},
		{"a node selector", `{"spec":{"nodeSelector":{"a":"b"},"other":{"a":"b"}}}`, []string{".spec.other"}},
	} {
		requireShared(t, c.what, c.data, c.want, func(table *share.Table) func([]byte) (any, error) {
			return untyped(Options{Table: table, Values: true})
		})
		a, b := twice(t, c.data, untyped(Options{Table: share.New(0)}))
		assert.Empty(t, sharing(a, b), c.what)
		a, b = twice(t, c.data, untyped(Options{}))
		assert.Empty(t, sharing(a, b), c.what)
	}
}

// The rules also apply to keys without paths of their own.
func TestUnstructuredIsSafeBeyondItsPaths(t *testing.T) {
	d := NewUnstructured(Options{Table: share.New(0), Values: true})
	for n := range 2 * mostPaths {
		_, err := d.Decode(fmt.Appendf(nil, `{"a%d":{"b%d":{"c":1}}}`, n/40, n))
		require.NoError(t, err)
	}
	a, b := twice(t, `{"late":{"metadata":{"labels":{"a":"b"}},"x":[{"y":{"data":{}}}]},"metadata":{"labels":{"x":"y"}}}`, func(data []byte) (any, error) { return d.Decode(data) })
	assert.Empty(t, sharing(a, b))
}

// tableText collects the strings of a table.
type tableText struct{ all []string }

func (s *tableText) Add(any)          {}
func (s *tableText) Text(text string) { s.all = append(s.all, text) }

// An object with too many keys for the paths of a decoder shares no more than other objects. It shares
// neither labels of a template nor strings in [gotype.Payload], regardless of the keys before them.
func TestUnstructuredIsSafeWithManyKeys(t *testing.T) {
	var many strings.Builder
	for n := range mostChildren {
		fmt.Fprintf(&many, `,"k%d":0`, n)
	}
	first := `{"spec":{"labels":{},"x":"public"` + many.String() + `}}`
	for _, o := range []Options{{Values: true}, {}} {
		o.Table = share.New(0)
		d := NewUnstructured(o)
		decode := func(data []byte) (any, error) { return d.Decode(data) }
		twice(t, first, decode)
		a, b := twice(t, `{"spec":{"nodeSelector":{"a":"b"},"labels":{"a":"b"},"template":{"metadata":{"annotations":{"a":"b"},"labels":{"a":"b"}}},`+
			`"data":{"p":"private p","x":"private x"},"x":"public"}}`, decode)
		for _, path := range sharing(a, b) {
			assert.Equal(t, ".spec.labels", path)
		}
		var held tableText
		o.Table.Weigh(&held)
		assert.Contains(t, held.all, "public")
		if !o.Values {
			assert.NotContains(t, held.all, "private p")
			assert.NotContains(t, held.all, "private x")
		}
	}
}

func typed[T any](o Options) func([]byte) (any, error) {
	return NewTyped(reflect.TypeFor[T](), o).Decode
}

// opaque decodes itself, and may write into itself later.
type opaque struct{ Made []string }

func (o *opaque) UnmarshalJSON([]byte) error {
	o.Made = []string{"x"}
	return nil
}

// lazy may store the result of a getter.
type lazy struct {
	A    []string `json:"a"`
	kept []string
}

// memo has a field that JSON ignores, in which a method may keep data.
type memo struct {
	A      []string `json:"a"`
	Answer *string  `json:"-"`
}

type shadowed struct {
	Shadow
	A []string `json:"a"`
}

// Shadow has a field that another field of the same name hides.
type Shadow struct {
	A []string `json:"a"`
}

type sharer struct {
	Memo    *memo                   `json:"memo"`
	Memos   []memo                  `json:"memos"`
	Shadows []shadowed              `json:"shadows"`
	Raws    []runtime.RawExtension  `json:"raws"`
	Meta    []metav1.ObjectMeta     `json:"meta"`
	Named   holder                  `json:"named"`
	Holders []holder                `json:"holders"`
	Written struct{ Data []string } `json:"written"`
	Data    map[string][]string     `json:"data"`
	Opaque  []opaque                `json:"opaque"`
	Lazy    []lazy                  `json:"lazy"`
	Any     []any                   `json:"any"`
	Sizes   []resource.Quantity     `json:"sizes"`
	Limits  corev1.ResourceList     `json:"limits"`
	Plain   map[string][]string     `json:"plain"`
	Nested  *map[string]*[]string   `json:"nested"`
	Inline  []inline                `json:"inline"`
}

type holder struct {
	Metadata map[string]string `json:"metadata"`
	Other    []string          `json:"other"`
}

type inline struct {
	metav1.ObjectMeta `json:",inline"`
	Other             []string `json:"other"`
}

func TestTypedSharesOnlyWhatIsSafe(t *testing.T) {
	_ = lazy{}.kept
	for _, c := range []struct {
		what, data string
		want       []string
	}{
		{"maps, arrays and pointers", `{"plain":{"a":["b"]},"nested":{"a":["b"]}}`, []string{".Nested", ".Plain"}},
		{"an ObjectMeta", `{"meta":[{"labels":{"a":"b"},"finalizers":["f"],"ownerReferences":[{"controller":true}]}]}`, nil},
		{"fields of an ObjectMeta, but not their array", `{"meta":[{"managedFields":[{"manager":"m","fieldsV1":{"f:a":{}},"time":"2025-01-01T00:00:00Z"}]}]}`, []string{".Meta[0].ManagedFields[0].FieldsV1"}},
		{"an embedded ObjectMeta", `{"inline":[{"labels":{"a":"b"},"other":["x"]}]}`, []string{".Inline[0].Other"}},
		{"a field named metadata", `{"named":{"metadata":{"a":"b"},"other":["x"]},"holders":[{"other":["y"]}]}`, []string{".Holders[0].Other", ".Named.Other"}},
		{"a field named data", `{"data":{"a":["b"]}}`, nil},
		{"a type that decodes itself", `{"opaque":[{}]}`, nil},
		{"a type with unexported fields", `{"lazy":[{"a":["b"]}]}`, []string{".Lazy[0].A"}},
		{"a field that JSON ignores", `{"memo":{"a":["b"]},"memos":[{"a":["c"]}]}`, []string{".Memo.A", ".Memos[0].A"}},
		{"a field that another hides", `{"shadows":[{"a":["c"]}]}`, []string{".Shadows[0].A"}},
		{"bytes without spare capacity", `{"raws":[{"a":["with room behind it"]}]}`, []string{".Raws"}},
		{"an interface", `{"any":[{"a":["b"]}]}`, nil},
		{"quantities in a map", `{"limits":{"a":"1","b":"1500m","c":"0.5","d":null}}`, []string{".Limits"}},
		{"a quantity with a big number", `{"limits":{"a":"1","b":"100000000000000000000"}}`, nil},
		{"quantities that methods write into", `{"sizes":["1","1500m","0.5"]}`, nil},
	} {
		requireShared(t, c.what, c.data, c.want, valuesOf[sharer])
		a, b := twice(t, c.data, typed[sharer](Options{Table: share.New(0)}))
		assert.Empty(t, sharing(a, b), c.what)
	}
}

func valuesOf[T any](table *share.Table) func([]byte) (any, error) {
	return typed[T](Options{Table: table, Values: true})
}

func TestTypedSharesOfKnownKinds(t *testing.T) {
	requireShared(t, "a pod", string(podNumber(t, 1)), []string{
		".ObjectMeta.ManagedFields[0].FieldsV1", ".ObjectMeta.ManagedFields[1].FieldsV1", ".Spec.Affinity", ".Spec.Containers", ".Spec.SecurityContext", ".Spec.Tolerations",
		".Spec.Volumes", ".Status.Conditions", ".Status.ContainerStatuses", ".Status.HostIPs", ".Status.PodIPs",
	}, valuesOf[corev1.Pod])
	requireShared(t, "a deployment", `{"metadata":{"labels":{"a":"b"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}],"nodeSelector":{"x":"y"}}}}}`,
		[]string{".Spec.Selector", ".Spec.Template.Spec.Containers"}, valuesOf[appsv1.Deployment])
	requireShared(t, "a config map", `{"data":{"a":"YQ=="},"binaryData":{"a":"YQ=="}}`, nil, valuesOf[corev1.ConfigMap])
	requireShared(t, "a volume that contains metadata", `{"spec":{"volumes":[{"ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},"spec":{"accessModes":["x"]}}}}]}}`,
		[]string{".Spec.Volumes[0].VolumeSource.Ephemeral.VolumeClaimTemplate.Spec.AccessModes"}, valuesOf[corev1.Pod])
}

// A shared quantity equals the one that apimachinery decodes. It has no text if the server's text is not
// canonical.
func TestSharedQuantitiesAreAsApimachineryDecodesThem(t *testing.T) {
	const data = `{"limits":{"a":"0.5","b":"1024Mi","c":"1500m","d":"1000"}}`
	requireShared(t, "limits", data, []string{".Limits"}, valuesOf[sharer])
	var want sharer
	require.NoError(t, json.Unmarshal([]byte(data), &want))
	a, b := twice(t, data, valuesOf[sharer](share.New(0)))
	require.Equal(t, &want, a)
	require.Equal(t, &want, b)
}
