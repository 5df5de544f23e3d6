package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// runOwn plays a world of own writes in its own bubble.
func runOwn(t *testing.T, p ownPlan, m ownMutant) (o outcome) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w := newOwnWorld(p, m)
		w.play()
		o = outcome{w.violations, w.trace.String(), w.reached}
	})
	return o
}

// ownTranscript returns a world of own writes and its result as text.
func ownTranscript(p ownPlan, o outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "world %d of own writes: %v\n%s", p.seed, p.setup, o.trace)
	for _, v := range o.violations {
		fmt.Fprintf(&b, "FAILS %s: %s\n", v.checker, v.what)
	}
	return b.String()
}

// TestWorldsOfOwnWrites plays one world of own writes for each seed.
func TestWorldsOfOwnWrites(t *testing.T) {
	seeds := worlds(tier.Raced(), tier.Long())
	reached := map[string]int{}
	for seed := *seedFlag; seed < *seedFlag+seeds; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			for what, n := range playOwnSeed(t, newOwnPlan(seed)) {
				reached[what] += n
			}
		})
	}
	if *seedFlag == 1 && seeds >= coverageWorlds {
		for _, m := range ownMenu {
			require.NotZero(t, reached[fmt.Sprintf("operation %v", m.op)], m.op)
		}
		for _, op := range shardMenu {
			require.NotZero(t, reached[fmt.Sprintf("operation %v", op)], op)
		}
		for how := range packed(packedWays) {
			require.NotZero(t, reached[fmt.Sprintf("holds %v", how)], how)
		}
		for _, f := range []fate{straight, heldRequest, heldAnswer, lostAnswer, failedAnswer, cutAnswer} {
			require.NotZero(t, reached[fmt.Sprintf("fate %v", f)], f)
		}
		for _, what := range []string{"shown true", "shown false", "made true", "made false", "set back true", "set back false", "store scribbled", "timeout true", "texts true"} {
			require.NotZero(t, reached[what], what)
		}
	}
	t.Log(reached)
}

// playOwnSeed plays a world and returns what it has reached. A failing world is shrunk.
func playOwnSeed(t *testing.T, p ownPlan) (reached map[string]int) {
	t.Helper()
	o := runOwn(t, p, ownMutant{})
	if *traceFlag {
		t.Log("\n" + ownTranscript(p, o))
	}
	if len(o.violations) == 0 {
		return o.reached
	}
	small := p
	small.steps = shrinkSteps(p.steps, func(steps []step) bool {
		less := p
		less.steps = steps
		return runOwn(t, less, ownMutant{}).finds(o.violations[0].checker)
	})
	t.Errorf("%s\n\nshrunk from %d steps:\n%s", o.violations, len(p.steps), ownTranscript(small, runOwn(t, small, ownMutant{})))
	return o.reached
}

// shrinkSteps drops steps as long as the rest still fails.
func shrinkSteps(steps []step, fails func([]step) bool) []step {
	for size := len(steps) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(steps); {
			if less := slices.Concat(steps[:i], steps[i+size:]); fails(less) {
				steps = less
			} else {
				i += size
			}
		}
	}
	return steps
}
