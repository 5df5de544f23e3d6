package indexer

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestNodesHoldTheNamesThatTheyAreGiven(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 4, 10, 11, 12, 26, 27, 28, 42, 43, 44, 74, 75, 76, 253, 254, 255, 256, 10_000} {
		name := strings.Repeat("x", size)
		key := Key{"a", name}
		n := newNode[entry](key)
		runtime.GC() // it must not free the name behind the node
		require.Equal(t, key, n.view())
		require.Equal(t, key, n.key())
		require.True(t, n.is(key))
		require.False(t, n.is(Key{"b", name}))
		require.False(t, n.is(Key{"a", name + "x"}))
		if size > 0 {
			require.False(t, n.is(Key{"a", name[1:]}))
			require.False(t, n.is(Key{"a", name[1:] + "y"}))
		}
	}
}

// A copied key does not keep the record in memory.
func TestAKeyThatIsKeptIsNotTheNodes(t *testing.T) {
	n := newNode[entry](Key{"a", "name"})
	require.Same(t, unsafe.StringData(n.name()), unsafe.StringData(n.view().Name))
	require.NotSame(t, unsafe.StringData(n.name()), unsafe.StringData(n.key().Name))
}

// A node and its name are one allocation.
func TestNamesFollowTheirNodes(t *testing.T) {
	require.Equal(t, unsafe.Sizeof(record{}), unsafe.Offsetof(record{}.head)+headSize)
	require.Equal(t, unsafe.Sizeof(node[vector]{}), unsafe.Offsetof(node[vector]{}.head)+headSize)
	require.Equal(t, unsafe.Sizeof(record{}), unsafe.Offsetof(sized[entry, [8]byte]{}.tail))
	if unsafe.Sizeof(uintptr(0)) == 8 {
		require.EqualValues(t, 56, unsafe.Sizeof(record{}), "with 27 bytes of a name it fills 80")
	}
}
