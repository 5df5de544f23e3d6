package jsondecode

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

func TestDropLeavesFieldsOut(t *testing.T) {
	drop, err := fields.Parse("metadata.managedFields", "metadata.annotations.note", "spec.containers.env", "status.conditions", "gone", "spec.volumes.name.deeper")
	require.NoError(t, err)
	const data = `{"metadata":{"name":"n","managedFields":[{"manager":"m"}],"annotations":{"note":"x","other":"y"}},"gone":1,` +
		`"spec":{"containers":[{"name":"a","env":[{"name":"e"}]},{"name":"b"}],"initContainers":[{"name":"a","env":[{"name":"e"}]}],"volumes":[{"name":"v"}]},"status":{"conditions":[{"type":"t"}]}}`
	const left = `{"metadata":{"name":"n","annotations":{"other":"y"}},` +
		`"spec":{"containers":[{"name":"a"},{"name":"b"}],"initContainers":[{"name":"a","env":[{"name":"e"}]}],"volumes":[{"name":"v"}]},"status":{}}`
	twiceKey := data[:len(data)-1] + `,"spec":{"containers":[{"name":"a","env":[{"name":"e"}]},{"name":"b"}],"volumes":[{"name":"v"}]}}`
	twiceLeft := left[:len(left)-1] + `,"spec":{"containers":[{"name":"a"},{"name":"b"}],"volumes":[{"name":"v"}]}}`
	for data, left := range map[string]string{data: left, twiceKey: twiceLeft} {
		for _, o := range []Options{{}, {Table: share.New(0)}, {Table: share.New(0), Values: true}} {
			want, err := NewUnstructured(Options{}).Decode([]byte(left))
			require.NoError(t, err)
			wantPod, err := NewTyped(reflect.TypeFor[corev1.Pod](), Options{}).Decode([]byte(left))
			require.NoError(t, err)
			o.Drop = drop
			d, pods := NewUnstructured(o), NewTyped(reflect.TypeFor[corev1.Pod](), o)
			for range 6 {
				got, err := d.Decode([]byte(data))
				require.NoError(t, err)
				require.Equal(t, want, got)
				pod, err := pods.Decode([]byte(data))
				require.NoError(t, err)
				require.Equal(t, wantPod, pod)
			}
		}
	}
}

// Decoders that drop different fields do not get each other's values from a common table.
func TestDropIsNotShared(t *testing.T) {
	drop, err := fields.Parse("spec.a.b")
	require.NoError(t, err)
	table := share.New(0)
	all, some := NewUnstructured(Options{Table: table, Values: true}), NewUnstructured(Options{Table: table, Values: true, Drop: drop})
	for range 6 {
		got, err := all.Decode([]byte(`{"spec":{"a":{"b":1,"c":[2]}}}`))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"spec": map[string]any{"a": map[string]any{"b": int64(1), "c": []any{int64(2)}}}}, got)
		got, err = some.Decode([]byte(`{"spec":{"a":{"b":1,"c":[2]}}}`))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"spec": map[string]any{"a": map[string]any{"c": []any{int64(2)}}}}, got)
	}
}

// Fields are also dropped below keys without paths of their own.
func TestDropHoldsBeyondThePaths(t *testing.T) {
	drop, err := fields.Parse("metadata.managedFields", "spec.late.secret")
	require.NoError(t, err)
	d := NewUnstructured(Options{Table: share.New(0), Values: true, Drop: drop})
	for n := range 2 * mostChildren {
		_, err := d.Decode(fmt.Appendf(nil, `{"k%d":1,"spec":{"k%d":1},"metadata":{"k%d":1}}`, n, n, n))
		require.NoError(t, err)
	}
	got, err := d.Decode([]byte(`{"spec":{"late":[{"secret":1,"kept":2}]},"metadata":{"managedFields":[],"name":"n"}}`))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"spec": map[string]any{"late": []any{map[string]any{"kept": int64(2)}}}, "metadata": map[string]any{"name": "n"}}, got)
}

// Odd objects, which apimachinery decodes, lose the same fields.
func TestDropHoldsForOddObjects(t *testing.T) {
	drop, err := fields.Parse("map.a", "leafs.b.name", "any.x", "lists.c.n", "pointer.name", "raw.x", "slice", "toMap.z.n")
	require.NoError(t, err)
	const data = `"map":{"a":"1","b":"2"},"leafs":{"b":{"name":"n","n":1},"c":{"name":"n"}},"any":{"x":1,"y":2},"lists":{"c":[{"n":1,"name":"n"}]},"pointer":{"name":"n","n":1},"raw":{"x":1},"slice":["a"],"toMap":{"z":{"n":1}}`
	const left = `"map":{"b":"2"},"leafs":{"b":{"n":1},"c":{"name":"n"}},"any":{"y":2},"lists":{"c":[{"name":"n"}]},"pointer":{"n":1},"raw":{},"toMap":{"z":{}}`
	for _, odd := range []string{"", `,"bool":true,"bool":false`} {
		want, err := NewTyped(reflect.TypeFor[zoo](), Options{}).Decode([]byte("{" + left + odd + "}"))
		require.NoError(t, err)
		d := NewTyped(reflect.TypeFor[zoo](), Options{Drop: drop})
		got, err := d.Decode([]byte("{" + data + odd + "}"))
		require.NoError(t, err)
		assert.Equal(t, want, got)
		_, plain := d.DecodePlain([]byte("{" + data + odd + "}"))
		assert.Equal(t, odd == "", plain)
	}
}
