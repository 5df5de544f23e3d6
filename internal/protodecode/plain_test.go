package protodecode

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Most objects of every kind have plain bytes.
func TestIsPlain_EveryKind(t *testing.T) {
	all, plain := 0, 0
	for seed, kind := range kinds() {
		d := New(kind, Options{})
		for round := range uint64(12) {
			object := reflect.New(kind)
			newFiller(uint64(seed)+round).fill(object.Elem(), 9)
			data, err := object.Interface().(marshaler).Marshal()
			require.NoError(t, err)
			all++
			if d.IsPlain(data) {
				plain++
			}
		}
	}
	require.Greater(t, plain, all*8/10, "of %d objects", all)
}

// Bytes are not plain if they cannot be decoded, need the generated code, or decode to something other
// than they seem to.
func TestIsPlain_OddBytes(t *testing.T) {
	d := New(podType, Options{})
	good, err := siblingPod(1).Marshal()
	require.NoError(t, err)
	require.True(t, d.IsPlain(good))
	for i := range good {
		require.False(t, d.IsPlain(good[:i]) && i > 0 && !decodes(d, good[:i]), "cut at %d", i)
	}
	named := func(m *metav1.ObjectMeta) []byte {
		data, err := (&corev1.Pod{ObjectMeta: *m}).Marshal()
		require.NoError(t, err)
		return data
	}
	twice := append(named(&metav1.ObjectMeta{Name: "a"}), named(&metav1.ObjectMeta{Name: "b"})...)
	require.False(t, d.IsPlain(twice), "metadata that occurs twice")
	meta := append([]byte("\x0a\x01a"), "\x0a\x01b"...)
	require.False(t, d.IsPlain(append([]byte{0x0a, byte(len(meta))}, meta...)), "a name that occurs twice")
	require.True(t, d.IsPlain(append([]byte{0x0a, 3}, "\x0a\x01a"...)))
	require.False(t, New(reflect.TypeFor[struct{}](), Options{}).IsPlain(good), "a type without protobuf")
	for text, want := range map[string]bool{"100m": true, "8Gi": true, "0": true, "": false, "1e3": false, "0.5": false, "-1": false, "m": false, "1234567890123456": false} {
		q := corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{"cpu": resource.Quantity{}}}}
		data, err := q.Marshal()
		require.NoError(t, err)
		require.Equal(t, want, isPlainQuantity(append([]byte{0x0a, byte(len(text))}, text...)), text)
		require.True(t, d.IsPlain(data))
	}
	deep := New(reflect.TypeFor[deep](), Options{})
	require.True(t, deep.IsPlain(nested(plainNesting-1)))
	require.False(t, deep.IsPlain(nested(plainNesting)))
}

// nested returns a message with n nested messages.
func nested(n int) (data []byte) {
	for range n {
		data = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), data)
	}
	return data
}

func decodes(d *Decoder, data []byte) bool {
	_, err := d.Decode(data)
	return err == nil
}

func TestIsPlain_AllocatesNothing(t *testing.T) {
	d := New(podType, Options{})
	good, err := siblingPod(1).Marshal()
	require.NoError(t, err)
	require.True(t, d.IsPlain(good)) // makes the plans
	require.Zero(t, testing.AllocsPerRun(100, func() { d.IsPlain(good) }))
}
