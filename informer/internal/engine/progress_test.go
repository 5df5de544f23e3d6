package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// Progress sums up, over all sources, how much of the running lists and streams has been read.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := status{bySource: make([]sourceStatus, 2), applied: make([]atomic.Uint64, 2)}
		progress := func() Progress { return s.recorded().Progress }
		require.Zero(t, progress())

		s.reflected(0, reflector.Asked{Operation: reflector.OpStream})
		require.Equal(t, Progress{Since: began, Remaining: -1}, progress())
		time.Sleep(time.Second)
		s.reflected(0, reflector.Asked{Operation: reflector.OpList}) // instead of the stream
		s.reflected(0, reflector.Paged{Operation: reflector.OpList, Objects: 500, Remaining: 700, Bytes: 1 << 20})
		require.Equal(t, Progress{Since: began.Add(time.Second), Objects: 500, Remaining: 700, Bytes: 1 << 20}, progress())

		time.Sleep(time.Second)
		s.reflected(1, reflector.Asked{Operation: reflector.OpList})
		require.EqualValues(t, -1, progress().Remaining, "the other source has not said anything")
		s.reflected(1, reflector.Paged{Operation: reflector.OpList, Objects: 1, Remaining: 2, Bytes: 3})
		require.Equal(t, Progress{Since: began.Add(time.Second), Objects: 501, Remaining: 702, Bytes: 1<<20 + 3}, progress())

		s.reflected(0, reflector.Listed{Operation: reflector.OpList})
		require.Equal(t, Progress{Since: began.Add(2 * time.Second), Objects: 1, Remaining: 2, Bytes: 3}, progress())
		s.reflected(1, reflector.Asked{Operation: reflector.OpWatch})
		s.reflected(1, reflector.BackedOff{Page: true})
		require.NotZero(t, progress(), "the list goes on")
		s.reflected(1, reflector.BackedOff{})
		require.Zero(t, progress(), "nothing is being read while it waits")

		s.reflected(0, reflector.Asked{Operation: reflector.OpList})
		s.reflected(0, reflector.NotServed{})
		require.Zero(t, progress(), "nothing is being read while the resource is waited for")
	})
}
