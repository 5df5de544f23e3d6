package informertest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

func FuzzModel(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		w := &twins{t: t, rand: r, model: newTestModel(t)}
		w.model.sharded = true
		for more() {
			w.step()
		}
		w.end()
	})
}

// Tokens survive encoding and decoding, and other text is refused.
func FuzzToken(f *testing.F) {
	for _, s := range []string{"", "e30", "bnVsbA", token{Version: 7, Start: "a/p\x00"}.String(), token{Version: -1, Start: "\xff"}.String()} {
		f.Add(s, int64(7), "a/p")
		f.Add(s, int64(0), "a/p")
		f.Add(s, int64(-7), "\x80\x9b")
	}
	f.Fuzz(func(t *testing.T, text string, version int64, start string) {
		if read, err := parseToken(text); err == nil {
			again, err := parseToken(read.String())
			require.NoError(t, err)
			require.Equal(t, read, again)
		}
		want := token{API: tokenAPI, Version: version, Start: string([]rune(start))} // JSON is in UTF-8
		got, err := parseToken(token{Version: version, Start: start}.String())
		if version == 0 || start == "" {
			require.ErrorIs(t, err, errToken)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
