package chance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each number uses one byte, and all values below a bound can occur. Drawing a number always ends, even
// without bytes.
func TestAByteIsANumber(t *testing.T) {
	for bound := 1; bound <= 256; bound++ {
		seen := map[int]bool{}
		for n := range 256 {
			b, r := New([]byte{byte(n), 1})
			seen[r.IntN(bound)] = true
			require.Len(t, b.left, 1, "bound %d", bound)
		}
		require.Len(t, seen, bound)
	}
	b, r := New(nil)
	require.False(t, b.More())
	for bound := uint64(1); bound < 1<<16; bound++ {
		require.Less(t, r.Uint64N(bound), bound)
	}
}
