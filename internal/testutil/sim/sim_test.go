package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorlds plays one world for each seed. See the package comment for how to
// play one again.
func TestWorlds(t *testing.T) {
	reached := map[string]int{}
	for seed := *seedFlag; seed < *seedFlag+*seedsFlag; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newPlan(seed)
			o := run(t, p, sabotage{})
			for what, n := range o.reached {
				reached[what] += n
			}
			if *traceFlag {
				t.Log("\n" + o.transcript(p))
			}
			if len(o.violations) == 0 {
				t.Logf("world %d: trace %s", seed, hash(o.trace))
				return
			}
			small := shrink(t, p, sabotage{}, o.violations[0].checker)
			t.Errorf("%s\n\nshrunk from %d steps:\n%s", o.violations, len(p.steps), run(t, small, sabotage{}).transcript(small))
		})
	}
	if *seedFlag == 1 && *seedsFlag >= whole {
		require.Empty(t, unreached(t, reached), "no world has reached these")
	}
	t.Log(reached)
}

// TestTheSameSeedGivesTheSameTrace is what makes the rest of use.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	for seed := range uint64(20) {
		p := newPlan(seed)
		require.Equal(t, run(t, p, sabotage{}).trace, run(t, p, sabotage{}).trace, "world %d", seed)
	}
}
