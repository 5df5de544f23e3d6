package records

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lowestOf is a slow equivalent of Reached.Lowest.
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
		r, twin := NewReached(sources), make([]string, sources)
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
				r.Set(uint16(source), version)
				twin[source] = version
			} else {
				r.Advance(uint16(source), version)
				twin[source] = object.Advance(twin[source], version)
			}
			require.Equal(t, twin[source], r.Version(uint16(source)))
			if random.IntN(3) > 0 {
				continue
			}
			got, want := r.Lowest(), lowestOf(twin)
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
	r := NewReached(1000)
	for source := range 1000 {
		r.Set(uint16(source), "10")
	}
	r.Set(7, "5")
	require.Equal(t, "5", r.Lowest())
	for i := range 1000 {
		r.Advance(8, fmt.Sprint(11+i))
		require.True(t, r.known)
	}
	require.Equal(t, "5", r.Lowest())
	r.Advance(7, "12")
	require.Equal(t, "10", r.Lowest())
}
