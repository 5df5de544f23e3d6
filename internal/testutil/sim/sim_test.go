package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// sorts are the sorts of worlds; each seed makes a world of each sort.
var sorts = []struct {
	name string
	draw func(seed uint64) plan
}{
	{"informer", newPlan},
	{"resource", newResourcePlan},
	{"tenants", newTenantPlan},
}

// worlds returns how many worlds of each sort to play if the flag does not say so. Under the race
// detector a world takes ten times as long.
func worlds(raced, long bool) uint64 {
	switch {
	case *seedsFlag > 0:
		return *seedsFlag
	case raced && long:
		return 40
	case raced:
		return 5
	case long:
		return coverageWorlds
	}
	return 100
}

// TestWorlds plays one world of each sort for each seed. The package comment says how to replay a world.
func TestWorlds(t *testing.T) {
	seeds := worlds(tier.Raced(), tier.Long())
	reached := map[string]int{}
	for seed := *seedFlag; seed < *seedFlag+seeds; seed++ {
		for _, sort := range sorts {
			t.Run(fmt.Sprintf("seed %d %s", seed, sort.name), func(t *testing.T) {
				for what, n := range playSeed(t, sort.draw(seed)) {
					reached[what] += n
				}
			})
		}
	}
	if *seedFlag == 1 && seeds >= coverageWorlds {
		require.Empty(t, unreached(t, reached), "no world has reached these")
	}
	t.Log(reached)
}

// playSeed plays a world and returns the operations, faults and events that it has reached. A failing
// world is shrunk.
func playSeed(t *testing.T, p plan) (reached map[string]int) {
	t.Helper()
	o := run(t, p, mutant{})
	if *traceFlag {
		t.Log("\n" + o.transcript(p))
	}
	if len(o.violations) == 0 {
		t.Logf("world %d: trace %s", p.seed, hash(o.trace))
		return o.reached
	}
	small := shrink(t, p, mutant{}, o.violations[0].checker)
	t.Errorf("%s\n\nshrunk from %d steps:\n%s", o.violations, len(p.steps), run(t, small, mutant{}).transcript(small))
	return o.reached
}

// The same seed gives the same trace. Otherwise failures could not be reproduced.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	tier.SkipRaced(t)
	for seed := range uint64(20) {
		p := newPlan(seed)
		require.Equal(t, run(t, p, mutant{}).trace, run(t, p, mutant{}).trace, "world %d", seed)
	}
}
