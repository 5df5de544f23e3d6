package faults

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// A program writes objects of four kinds in all possible ways, and never reads an older state, however
// late its watches are. For comparison, another program does the same without OwnWrites.
func TestScenario_OwnWritesOfAllKinds(t *testing.T) {
	s := begin(t, harness.Options{})
	s.writes()
	unmade := map[string]int{}
	lags := []time.Duration{0, 50 * time.Millisecond, time.Second}
	if *full {
		lags = append(lags, time.Minute)
	}
	for _, late := range lags {
		with, without := s.program(fmt.Sprint("with-", late.Milliseconds()), true), s.program(fmt.Sprint("without-", late.Milliseconds()), false)
		var running sync.WaitGroup
		for _, p := range []*program{with, without} {
			p.late(late)
			running.Go(func() { p.run(size(200, 10_000/4)) })
		}
		running.Wait()
		with.settled()
		without.settled()
		s.note += fmt.Sprintf("%v late: %s (without own writes: %s); ", late, with.figures(), without.figures())
		with.noGhosts()
		for _, w := range with.writers {
			for _, sort := range w.unmade() {
				unmade[sort]++
			}
		}
	}
	for sort, times := range unmade {
		require.Less(t, times, len(lags), "no write of this sort has succeeded: %s", sort)
	}
	t.Log(s.note)
	s.row(0)
}
