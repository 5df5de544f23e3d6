package fences

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// visited is a world that the walk has reached, by an action in another one.
type visited struct {
	from int // -1 for a start
	name string
	world
}

// walk is an exploration of all rows of actions, the shortest first.
type walk struct {
	mutant
	worlds []visited
	seen   map[world]struct{}
}

// explore takes all rows of up to some actions. It returns the first that goes wrong.
func explore(m mutant, hands bool, depth int) (w *walk, row []string, err error) {
	w = &walk{mutant: m, seen: map[world]struct{}{}}
	names, all := starts(m, hands)
	for i, start := range all {
		w.worlds = append(w.worlds, visited{-1, names[i], start})
	}
	for first := 0; depth > 0; depth-- {
		n := len(w.worlds)
		for ; first < n; first++ {
			last, err := w.visit(first, depth > 1)
			if err != nil {
				row = w.row(first, last)
				return w, row, err
			}
		}
	}
	return w, nil, nil
}

// visit takes each action that can happen in a world, and keeps where they lead to.
func (w *walk) visit(i int, on bool) (last string, err error) {
	defer recovered(&err)
	for _, s := range w.worlds[i].steps(w.mutant) {
		last = s.name
		if err := s.next.check(w.mutant); err != nil {
			return last, err
		}
		if _, ok := w.seen[s.next]; ok {
			continue
		}
		w.seen[s.next] = struct{}{}
		if err := s.next.drain(w.mutant); err != nil {
			return last, err
		}
		if on {
			w.worlds = append(w.worlds, visited{i, s.name, s.next})
		}
	}
	return last, nil
}

// row returns the actions that have led to a world, and one more.
func (w *walk) row(i int, last string) []string {
	row := []string{last}
	for ; i >= 0; i = w.worlds[i].from {
		row = append([]string{w.worlds[i].name}, row...)
	}
	return row
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}

// TestFencesOnEveryShortRow explores the worlds. Each action more takes some eight times as long.
func TestFencesOnEveryShortRow(t *testing.T) {
	tier.SkipRaced(t)
	depth := 5
	if tier.Long() && !tier.Raced() {
		depth = 6
	}
	for name, c := range map[string]struct {
		mutant
		hands bool
		depth int
	}{
		// The rules do as their twin does, no reader sees anything wrong, and the store settles.
		"one source": {depth: depth},
		// The same, while a user writes the store by hand.
		"writes by hand": {hands: true, depth: depth - 1},
		// Nobody looks at the selector: an object without an echo goes, so that the store settles.
		"ghosts": {mutant: "late: selector not evaluated", depth: depth - 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, row, err := explore(c.mutant, c.hands, c.depth)
			require.NoError(t, err, "after %q", row)
			t.Logf("%d states", len(w.seen))
		})
	}
	t.Run("two sources", func(t *testing.T) { exploreJoined(t, depth) })
	for _, r := range mutantRows {
		t.Run("no shorter row of "+string(r.mutant), func(t *testing.T) {
			_, row, err := explore(r.mutant, false, min(depth-2, len(r.actions)-1))
			require.NoError(t, err, "after %q", row)
		})
	}
}
