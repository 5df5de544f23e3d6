package fences

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// mutantRow is the shortest row of actions in which the world goes wrong if a rule is switched off.
type mutantRow struct {
	mutant
	start   string
	actions []string
	wrong   string
}

// mutantAction is the one that no world without mutants has.
const mutantAction = "expire"

var mutantRows = []mutantRow{
	{"naive write-back", "uid=1 finalizer=false kept=false selector=false", []string{"delete"}, "the store did not hold it"},
	{"no fence", "uid=1 finalizer=false kept=false selector=false", []string{"delete"}, "the store did not hold it"},
	{"fences expire", "uid=0 finalizer=false kept=false selector=false", []string{"create, finalizer=false", "patch", "answer 1", "expire"}, "the log goes back"},
	{"lists always win", "uid=1 finalizer=false kept=false selector=false", []string{"update", "watch breaks", "list at 1"}, "the log goes back"},
	{"selector not evaluated", "uid=1 finalizer=false kept=false selector=true", []string{"patch in or out", "answer 0"}, "a reader sees"},
	{"no UID fence", "uid=1 finalizer=false kept=false selector=false", []string{"delete"}, "the store did not hold it"},
	{"any DELETED is the end", "uid=1 finalizer=false kept=false selector=true", []string{"patch in or out", "other moves in or out", "delete", "answer 1", "watch", "watch"}, "a reader sees"},
	{"a list ends the dead", "uid=1 finalizer=false kept=false selector=false", []string{"delete", "answer 0", "watch breaks", "list at 1", "list commits"}, "a reader sees"},
	{"what has gone stays away", "uid=1 finalizer=false kept=false selector=true", []string{"patch in or out", "other moves in or out", "delete", "watch", "answer 1", "watch"}, "a reader sees"},
	{"an old list ends the dead", "uid=0 finalizer=false kept=false selector=false", []string{"create, finalizer=false", "answer 0", "delete", "answer 0", "watch breaks", "list at 1", "list commits", "watch"}, "a reader sees"},
	{"who has left is dead", "uid=1 finalizer=false kept=false selector=true", []string{"patch in or out", "other moves in or out", "delete", "answer 1", "watch", "watch breaks", "list at 2", "list commits", "watch"}, "a reader sees"},
	{"emptied finalizers are an update", "uid=1 finalizer=true kept=false selector=false", []string{"delete", "remove the finalizer", "answer 1"}, "a reader sees"},
	{"no finalizers, no object", "uid=1 finalizer=false kept=true selector=false", []string{"delete", "patch", "answer 1"}, "a reader sees"},
	{"the echo of a deletion is delivered", "uid=1 finalizer=false kept=false selector=false", []string{"delete, answered by the object"}, "the store did not hold it"},
	{"what ends the dead is delivered", "uid=1 finalizer=false kept=false selector=false", []string{"delete"}, "the store did not hold it"},
	{"late: selector not evaluated, no ghost check", "uid=1 finalizer=false kept=false selector=true", []string{"patch in or out", "patch"}, "the store settles"},
	{"ghosts are removed", "uid=1 finalizer=false kept=false selector=false", []string{"update", "answer 0", "restore"}, "the store settles"},
	{"set-back ignored", "uid=0 finalizer=false kept=false selector=false", []string{"restore", "list at 0", "list commits"}, "a reader sees"},
	{"own by version alone", "uid=0 finalizer=false kept=false selector=false", []string{"other creates", "patch"}, "is said to be ours"},
}

// play takes a row of actions.
func play(m mutant, start string, actions []string) (err error) {
	defer recovered(&err)
	names, all := starts(m, false)
	w := all[slices.Index(names, start)]
	for _, action := range actions {
		if m == "" && action == mutantAction {
			continue
		}
		steps := w.steps(m)
		i := slices.IndexFunc(steps, func(s step) bool { return s.name == action })
		if i < 0 {
			return fmt.Errorf("%q cannot happen", action)
		}
		w = steps[i].next
		if err := w.check(m); err != nil {
			return err
		}
		if err := w.drain(m); err != nil {
			return err
		}
	}
	return nil
}

// TestEachRuleIsNeeded plays the shortest row of each mutant: all goes well, and goes wrong with the mutant.
func TestEachRuleIsNeeded(t *testing.T) {
	for _, r := range mutantRows {
		t.Run(string(r.mutant), func(t *testing.T) {
			require.NoError(t, play("", r.start, r.actions))
			require.ErrorContains(t, play(r.mutant, r.start, r.actions), r.wrong)
		})
	}
}
