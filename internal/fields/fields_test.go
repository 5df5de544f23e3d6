package fields

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type inner struct {
	Kept string `json:"kept"`
	Gone *int   `json:"gone,omitempty"`
}

type embedded struct {
	Inline string `json:"inline"`
}

type outer struct {
	embedded `json:",inline"`
	Direct   inner          `json:"direct"`
	List     []inner        `json:"list"`
	Pointer  *inner         `json:"pointer"`
	Whole    map[string]int `json:"whole"`
	unnamed  int
}

func TestParse(t *testing.T) {
	none, err := Parse()
	require.NoError(t, err)
	require.Nil(t, none)
	_, leftOut := none.Of("metadata")
	require.False(t, leftOut)

	s, err := Parse("metadata.managedFields", "spec.a.b", "spec.a", "spec.a.c", "status.x", "status.y.z")
	require.NoError(t, err)
	meta, leftOut := s.Of("metadata")
	require.False(t, leftOut)
	_, leftOut = meta.Of("managedFields")
	require.True(t, leftOut)
	_, leftOut = meta.Of("name")
	require.False(t, leftOut)
	spec, _ := s.Of("spec")
	_, leftOut = spec.Of("a")
	require.True(t, leftOut, "the whole, whatever is said of its parts")
	status, _ := s.Of("status")
	_, leftOut = status.Of("x")
	require.True(t, leftOut)
	y, leftOut := status.Of("y")
	require.False(t, leftOut)
	_, leftOut = y.Of("z")
	require.True(t, leftOut)
}

func TestParseRefuses(t *testing.T) {
	for _, path := range []string{
		"", ".", "a.", ".a", "metadata", "kind", "apiVersion", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion",
		"metadata.deletionTimestamp", "metadata.finalizers", "metadata.ownerReferences", "metadata.ownerReferences.uid",
	} {
		_, err := Parse("spec", path)
		require.ErrorIs(t, err, ErrRefused, path)
	}
	_, err := Parse("metadata.names", "metadata.managedFields", "kinds")
	require.NoError(t, err)
}

func TestCut(t *testing.T) {
	one := 1
	whole := func() *outer {
		return &outer{
			embedded: embedded{"x"},
			Direct:   inner{"k", &one},
			List:     []inner{{"k", &one}, {"l", &one}},
			Pointer:  &inner{"k", &one},
			Whole:    map[string]int{"a": 1},
			unnamed:  7,
		}
	}
	o := whole()
	(*Set)(nil).Cut(o)
	require.Equal(t, whole(), o)
	s, err := Parse("inline", "direct.gone", "list.gone", "pointer.gone", "whole", "nothing.at.all")
	require.NoError(t, err)
	s.Cut(o)
	require.Equal(t, &outer{Direct: inner{"k", nil}, List: []inner{{"k", nil}, {"l", nil}}, Pointer: &inner{"k", nil}, unnamed: 7}, o)

	m := map[string]any{
		"whole": map[string]any{"a": 1},
		"list":  []any{map[string]any{"gone": 1, "kept": 2}, "text"},
		"other": 1,
	}
	s.Cut(m)
	require.Equal(t, map[string]any{"list": []any{map[string]any{"kept": 2}, "text"}, "other": 1}, m)
}
