package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// lowestOf is a slow equivalent of reached.lowest.
func lowestOf(versions []string) string {
	lowest := versions[0]
	for _, v := range versions {
		if object.Older(v, lowest) || object.Comparable(v) && !object.Comparable(lowest) {
			lowest = v
		}
	}
	return lowest
}

func TestTheLowestVersionAgainstItsTwin(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		sources := 1 + random.IntN(20)
		r, twin := newReached(sources), make([]string, sources)
		for step := range 300 {
			source := random.IntN(sources)
			version := fmt.Sprint(1 + step + random.IntN(30))
			switch random.IntN(30) {
			case 0:
				version = ""
			case 1:
				version = "garbage"
			}
			if random.IntN(40) == 0 {
				version = fmt.Sprint(1 + random.IntN(30))
				r.set(uint16(source), version)
				twin[source] = version
			} else {
				r.advance(uint16(source), version)
				twin[source] = object.Advance(twin[source], version)
			}
			require.Equal(t, twin[source], r.versions[source])
			if random.IntN(3) > 0 {
				continue
			}
			got, want := r.lowest(), lowestOf(twin)
			if object.Comparable(want) || sources == 1 {
				require.Equal(t, want, got, "seed %d step %d", seed, step)
			} else {
				require.False(t, object.Comparable(got), "none of them compares")
			}
		}
	}
}

// An event of a source that is not the lowest looks at no other source's version.
func TestAnEventOfOneOfManySourcesLooksAtNoOther(t *testing.T) {
	r := newReached(1000)
	for source := range 1000 {
		r.set(uint16(source), "10")
	}
	r.set(7, "5")
	require.Equal(t, "5", r.lowest())
	for i := range 1000 {
		r.advance(8, fmt.Sprint(11+i))
		require.True(t, r.known)
	}
	require.Equal(t, "5", r.lowest())
	r.advance(7, "12")
	require.Equal(t, "10", r.lowest())
}
