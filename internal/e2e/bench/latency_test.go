package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACallThatIsHeldUpHoldsUpThoseAfterIt(t *testing.T) {
	// Ten calls of no time in 10 s, and one that took 5 s of 15 s.
	l := latencies{0, 0, 0, 0, 0, 5 * time.Second, 0, 0, 0, 0}
	all := l.evenly(15 * time.Second)
	require.Equal(t, latencies{0, 0, 0, 0, 0, 0, 0, 0, 0, 1e9, 2e9, 3e9, 4e9, 5e9}, all)
	require.Zero(t, all.quantile(0.5))
	require.Equal(t, 5*time.Second, all.quantile(0.99))
	require.Equal(t, 5*time.Second, all.quantile(1))
}

func TestCallsAreSampledWhileWorkRuns(t *testing.T) {
	called := make(chan struct{})
	calls, err := sampleWhile(func(i int) error {
		if i == 2 {
			close(called)
		}
		return nil
	}, func() error { _, err := receive(called); return err })
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(calls), 3)
}

func TestAFailedCallFailsTheWhole(t *testing.T) {
	failed := make(chan struct{})
	_, err := sampleWhile(func(int) error { defer close(failed); return errMissing }, func() error { <-failed; return nil })
	require.ErrorIs(t, err, errMissing)
}
