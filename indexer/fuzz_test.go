package indexer

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

func FuzzIndexer(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		for d := newWorld(t, r); more(); {
			d.step()
			d.compare()
		}
	})
}

func FuzzTable(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		w := newTableTwins(t, r)
		for more() {
			w.step()
		}
		w.compare()
	})
}

// A key is spelled and read back, and every string is the spelling of a key.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"", "/", "a", "a/b", "/b", "a/", "a/b/c", "//", "ä/\x00\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		key := ParseKey(one)
		require.NotContains(t, key.Namespace, "/")
		require.Equal(t, one, key.String())
		for _, k := range []Key{key, {Namespace: one, Name: other}, {Name: one}} {
			if !strings.Contains(k.Namespace, "/") && (k.Namespace != "" || strings.Index(k.Name, "/") <= 0) {
				require.Equal(t, k, ParseKey(k.String()))
			}
		}
		// The table tells two keys apart wherever the bytes are split.
		table := newTable[int](0)
		joined := one + other
		for at := range min(len(joined), 64) + 1 {
			_, old := put(table, Key{joined[:at], joined[at:]}, at)
			require.Nil(t, old)
		}
		table.check()
	})
}
