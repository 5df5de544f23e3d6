package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// outcome is the result of a world.
type outcome struct {
	violations []violation
	trace      string
	reached    map[string]int
}

func (o outcome) finds(checker string) bool {
	return slices.ContainsFunc(o.violations, func(v violation) bool { return v.checker == checker })
}

// run plays a world in its own bubble.
func run(t *testing.T, p plan, s mutant) (o outcome) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w := newWorld(p, s)
		if w.tenants {
			newTenancy(w).play()
		} else {
			w.play()
		}
		o = outcome{w.violations, w.trace.String(), w.reached}
	})
	return o
}

// shrink drops steps as long as the same checker still fails.
func shrink(t *testing.T, p plan, s mutant, checker string) plan {
	t.Helper()
	for size := len(p.steps) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(p.steps); {
			less := p
			less.steps = slices.Concat(p.steps[:i], p.steps[i+size:])
			if run(t, less, s).finds(checker) {
				p = less
			} else {
				i += size
			}
		}
	}
	return p
}

// transcript returns a world and its result as text.
func (o outcome) transcript(p plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "world %d: %v\n", p.seed, p.setup)
	b.WriteString(o.trace)
	for _, v := range o.violations {
		fmt.Fprintf(&b, "FAILS %s: %s\n", v.checker, v.what)
	}
	return b.String()
}
