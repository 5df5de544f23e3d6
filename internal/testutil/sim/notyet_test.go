package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// defect is something that an engine does wrong, in words.
type defect string

const (
	exitEndsHandler defect = "a handler that ends its goroutine (runtime.Goexit) is told nothing more, and may never be synced"
	runningTooShort defect = "an informer is said not to run before Run has returned"
	relistIsEvent   defect = "a list that brings nothing new counts as the last event"
	oldError        defect = "the error of a run before is shown when the present one is healthy"
)

// notYet are the defects of the engine as it is. Worlds leave out what would show
// them: what asks spares. Whoever mends a defect deletes its row, which
// TestEachDefectIsFound demands, and what asks for it.
var notYet = []struct {
	defect          defect
	checker, reason string // which find it
}{}

// spares tells whether this world leaves out what would show a defect.
func (w *world) spares(d defect) bool { return w.sabotage.shows != d && known(d) }

// known tells whether a defect is one of the engine as it is.
func known(d defect) bool {
	for _, row := range notYet {
		if row.defect == d {
			return true
		}
	}
	return false
}

// Each defect that is known is found in some world, once it is not left out.
func TestEachDefectIsFound(t *testing.T) {
	for _, row := range notYet {
		t.Run(fmt.Sprintf("%s, by %s", row.defect, row.checker), func(t *testing.T) {
			for seed := range uint64(300) {
				for _, v := range run(t, newPlan(seed), sabotage{shows: row.defect}).violations {
					if v.checker == row.checker && strings.Contains(v.what, row.reason) {
						t.Logf("world %d, %s: %s", seed, v.checker, v.what)
						return
					}
				}
			}
			t.Error("no world finds it any more: delete its row of notYet")
		})
	}
}

// The checkers of the table are checkers.
func TestEachDefectHasAChecker(t *testing.T) {
	names, _ := checkersOf(t)
	for _, row := range notYet {
		require.True(t, slices.Contains(names, row.checker), "%s", row.checker)
	}
}
