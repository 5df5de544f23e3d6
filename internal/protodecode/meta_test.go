package protodecode

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// encodedMeta encodes an object with this metadata.
func encodedMeta(t *testing.T, m metav1.ObjectMeta) []byte {
	t.Helper()
	data, err := (&metav1.PartialObjectMetadata{ObjectMeta: m}).Marshal()
	require.NoError(t, err)
	return data
}

func TestReadMeta(t *testing.T) {
	m := metav1.ObjectMeta{Name: "n", GenerateName: "g", Namespace: "ns", UID: "u", ResourceVersion: "7", Generation: 3, Labels: map[string]string{"a": "b"}}
	whole := encodedMeta(t, m)
	read := func(data []byte, number uint8) []string {
		value, version, ok := ReadMeta(data, number)
		if !ok {
			return nil
		}
		return []string{string(value), string(version)}
	}
	require.Equal(t, []string{"u", "7"}, read(whole, 5))
	require.Equal(t, []string{"ns", "7"}, read(whole, 3))
	require.Equal(t, []string{"", ""}, read(encodedMeta(t, metav1.ObjectMeta{}), 5), "generated code writes empty strings")
	require.Equal(t, []string{"u", ""}, read([]byte("\x0a\x03\x2a\x01u"), 5), "without a version")
	for name, data := range map[string][]byte{
		"nothing":                    nil,
		"no metadata":                {},
		"another field first":        append([]byte("\x12\x00"), whole...),
		"no uid":                     []byte("\x0a\x03\x0a\x01n"),
		"the uid out of order":       []byte("\x0a\x06\x32\x017\x2a\x01u"),
		"two uids":                   []byte("\x0a\x06\x2a\x01u\x2a\x01v"),
		"a number instead of a name": []byte("\x0a\x05\x08\x01\x2a\x01u"),
	} {
		require.Nil(t, read(data, 5), name)
	}
	for i := range whole {
		if got := read(whole[:i], 5); got != nil {
			t.Fatalf("%q of %d bytes", got, i)
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { read := func() { _, _, _ = ReadMeta(whole, 5) }; read() }))
}
