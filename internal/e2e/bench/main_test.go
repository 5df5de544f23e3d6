package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tiny() config {
	return config{rounds: 2, objects: 2500, events: 3000, atLeast: time.Millisecond, profiles: new(profiler), progress: func(string) {}}
}

// Every run checks by itself that each handler, store and list had what it
// should have had.
func TestEveryWorkIsDoneByEachImplementation(t *testing.T) {
	c := tiny()
	var results []result
	for _, w := range works(c) {
		r, err := measure(c, w)
		require.NoError(t, err, w.name)
		for _, i := range w.by {
			require.Len(t, r.samples[i], c.rounds, "%s by %s", w.name, i)
			require.Positive(t, r.medians[i].value, "%s by %s", w.name, i)
		}
		results = append(results, r)
	}
	require.Equal(t, len(results)+2, strings.Count(table(results), "\n"), "a row each, and the head")
	require.Contains(t, details(results), "p50")
}
