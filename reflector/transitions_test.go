package reflector

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var phaseNames = [phases]string{
	"listing", "paging", "openingStream", "streaming", "committingList", "committingStream",
	"openingWatch", "watching", "waitingToList", "waitingToPage", "waitingToWatch", "stopped",
}

var inputNames = [inputs]string{
	"", "items", "page", "opened", "events", "bookmark", "committed", "waited",
	"asked", "closed", "silent", "failed", "broken", "sinkFailed", "stop",
}

var classNames = []string{"other", "expired", "too large", "busy", "unavailable", "invalid", "missing"}

// transition is a step of a machine, without versions and counts.
type transition struct {
	from, to phase
	in       input
	action   action
}

// transitions are all steps that a machine has made.
type transitions struct {
	mu   sync.Mutex
	seen map[transition]bool
}

// add notes the step from one phase to another world.
func (t *transitions) add(from phase, in input, to *world) {
	a := to.action
	in.version, in.healthy, in.enableStreams = "", false, false
	if a.bookmark != "" {
		a.bookmark = "x"
	}
	a.request, a.attempt = request{limit: min(a.request.limit, 1), brief: a.request.brief}, 0
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen[transition{from, to.machine.phase, in, a}] = true
}

func (t transition) String() string {
	return strings.TrimSpace(fmt.Sprintf("%-17s%-21s%-17s%s", phaseNames[t.from], describeInput(t.in), phaseNames[t.to], describeAction(t.action)))
}

// words returns the words whose conditions are true, from pairs of both.
func words(pairs ...any) (all []string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i].(bool) {
			all = append(all, pairs[i+1].(string))
		}
	}
	return all
}

func describeInput(in input) string {
	return strings.Join(words(
		true, inputNames[in.kind],
		in.kind == inFailed, classNames[in.class],
		in.token != "", "more",
		in.kind == inPage && in.token == "" || in.end, "last",
		in.short, "short",
		in.slow, "slow",
	), " ")
}

func describeAction(a action) string {
	return strings.Join(words(
		a.failed, "fail",
		a.rolledBack, "roll back",
		a.streamsDisabled, "disable streams",
		a.historyUnknown, "report no version",
		a.missing, "for the resource",
		a.close, "close",
		a.abort, "abort",
		a.begin, "begin"+map[History]string{NewHistory: " anew"}[a.history],
		a.write, "write",
		a.bookmark != "", "bookmark",
		a.op == doList && a.request.limit == 0, "without a limit",
		a.op == doReadPage, "read on",
		a.request.brief, "briefly",
	), ", ")
}

// compare compares the steps with the file in testdata.
func (t *transitions) compare(tt *testing.T) {
	file := filepath.Join("testdata", "machine.txt")
	lines := map[string]bool{}
	for step := range t.seen {
		lines[fmt.Sprintf("%02d%02d%v\n", step.from, step.in.kind, step)] = true
	}
	got := "# All steps of the machine: phase, input, the next phase, and what is done.\n\n"
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		got += line[4:]
	}
	if *rewrite {
		require.NoError(tt, os.WriteFile(file, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(tt, err)
	require.Equal(tt, string(want), got)
}

// coverTable fails for cells of the table that no input has reached.
func (t *transitions) coverTable(tt *testing.T) {
	type cell struct {
		phase phase
		kind  inputKind
	}
	used := map[cell]bool{}
	for step := range t.seen {
		used[cell{step.from, step.in.kind}] = true
	}
	for p := range phases {
		for k := range inputs {
			require.True(tt, table[p][k] == nil || used[cell{p, k}], "%s never met %s", phaseNames[p], inputNames[k])
		}
	}
}
