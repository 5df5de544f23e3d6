package indexer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A column holds objects of any types, nil and boxed values among them, and gives each one back.
func TestColumn(t *testing.T) {
	type pod struct{ name string }
	one, two := &pod{"one"}, &pod{"two"}
	for name, objects := range map[string][]any{
		"of one type":      {one, two, (*pod)(nil)},
		"of several types": {one, "text", 7, nil, pod{"value"}, two},
		"of values":        {pod{"a"}, pod{"b"}},
		"nil first":        {nil, one},
		"nothing else":     {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var c column
			for _, obj := range objects {
				c.add(obj)
			}
			copied := c.clone()
			require.Equal(t, objects, contentsOf(&c))
			require.Equal(t, append([]any{"before"}, objects...), c.appendTo([]any{"before"}))
			require.Equal(t, objects[0], c.set(0, "another"))
			require.Equal(t, "another", c.at(0))
			require.Equal(t, objects[1:], contentsOf(&c)[1:])
			require.Equal(t, objects, contentsOf(&copied), "the copy")
			for range objects {
				c.pop()
			}
			require.Zero(t, c.len())
			c.add(two)
			require.Same(t, two, c.at(0), "the type is that of the objects now")
		})
	}
}

// The memory of a column of pointers is a slice of these pointers.
func TestColumnsPointers(t *testing.T) {
	x, y := new(int), new(int)
	c := column{}
	c.add(x)
	c.add(y)
	got, ok := pointers[*int](&c)
	require.True(t, ok)
	require.Same(t, y, got[1])
	_, ok = pointers[*string](&c)
	require.False(t, ok, "another type")
	_, ok = pointers[any](&c)
	require.False(t, ok, "an interface")
	c.add("text")
	_, ok = pointers[*int](&c)
	require.False(t, ok, "several types")

	values := column{}
	values.add(7)
	_, ok = pointers[int](&values)
	require.False(t, ok, "the word of a value that is no pointer points to it")
	null := column{}
	null.add(nil)
	_, ok = pointers[error](&null)
	require.False(t, ok, "nil is of no type")
}

func contentsOf(c *column) (all []any) {
	for i := range c.len() {
		all = append(all, c.at(i))
	}
	return all
}
