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
	noJoinBetween   defect = "no handler can join between the end of one run and the next"
	waitsForIdle    defect = "who waits until what is published was delivered waits for what comes later, too"
	waitsForExited  defect = "who waits for a handler that ends its goroutine waits without end"
	latestAfterAsk  defect = "with Latest, the old object is a wrong one after a resync in which somebody asked how the informer is doing"
	latestUndone    defect = "with Latest, an object that was another one meanwhile is told as lost, when its delete was seen"
	askingWrites    defect = "whoever asks for the backlog of a handler with Latest writes to it, in a race with its going idle (-race shows it)"
	oldError        defect = "the error of a run before is shown when the present one is healthy"
)

// notYet are the defects of the engine as it is. Worlds leave out what would show
// them: what asks spares. Whoever mends a defect deletes its row, which
// TestEachDefectIsFound demands, and what asks for it.
var notYet = []struct {
	defect          defect
	checker, reason string // which find it
}{
	{askingWrites, "", ""}, // no world's: see TestAskingOnlyReads
	{exitEndsHandler, "fold", "knows"},
	{exitEndsHandler, "synced late", "exits"},
	{runningTooShort, "running", ""},
	{relistIsEvent, "nothing new", "the last event"},
	{noJoinBetween, "joins", "cannot join"},
	{waitsForIdle, "await", string(waitsForIdle)},
	{waitsForExited, "await", string(waitsForExited)},
	{latestAfterAsk, "old", "an update from what it did not see last"},
	{latestUndone, "as seen", "a lost delete of what was seen to be deleted"},
	{oldError, "status", "before this run"},
}

// spares tells whether this world leaves out what would show a defect.
func (w *world) spares(d defect) bool { return w.sabotage.shows != d && known(d) }

// known tells whether a defect is one of the engine as it is, and left out.
func known(d defect) bool {
	for _, row := range notYet {
		if row.defect == d && !*defectsFlag {
			return true
		}
	}
	return false
}

// Each defect that is known is found in some world, once it is not left out.
func TestEachDefectIsFound(t *testing.T) {
	for _, row := range notYet {
		if row.checker == "" {
			continue
		}
		t.Run(fmt.Sprintf("%s, by %s", row.defect, row.checker), func(t *testing.T) {
			for seed := range uint64(1000) {
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
		if row.checker == "" {
			continue
		}
		require.True(t, slices.Contains(names, row.checker), "%s", row.checker)
	}
}
