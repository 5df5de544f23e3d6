package object

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// versions are resourceVersions that a server may send, and texts that no server sends.
var versions = []string{
	"", "0", "1", "3", "7", "9", "10", "99", "100", "00", "07", "x", "-1", "1.5", " 1", "9223372036854775808", "18446744073709551616",
}

// Versions that are numbers are compared as numbers of any length. Other versions cannot be compared.
func FuzzVersions(f *testing.F) {
	for i, a := range versions {
		for _, b := range versions[i:] {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := number(a), number(b)
		known := x != nil && y != nil
		require.Equal(t, known && x.Cmp(y) < 0, Older(a, b), "Older(%q, %q)", a, b)
		require.Equal(t, x != nil, Comparable(a), "Comparable(%q)", a)

		switch {
		case b == "", known && x.Cmp(y) > 0:
			require.Equal(t, a, Advance(a, b), "the version must not go back")
		default:
			require.Equal(t, b, Advance(a, b))
		}
	})
}

// number reads a version as Kubernetes defines it: a decimal number without leading zeros. It returns
// nil for any other text.
func number(version string) *big.Int {
	n, ok := new(big.Int).SetString(version, 10)
	if !ok || fmt.Sprint(n) != version || n.Sign() <= 0 {
		return nil
	}
	return n
}
