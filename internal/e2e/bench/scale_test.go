package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScaleIsMeasuredAtEachSizeAndOnBothNumbersOfProcessors(t *testing.T) {
	c := tiny()
	c.objects, c.rounds = 10*firstScale, 1
	procs := runtime.GOMAXPROCS(0)
	var names []string
	for _, w := range scaleWorks(c) {
		names = append(names, w.name)
		if w.procs == 2 {
			continue
		}
		r, err := measure(c, w)
		require.NoError(t, err, w.name)
		require.Len(t, r.samples[native], 1, w.name)
		require.Equal(t, procs, runtime.GOMAXPROCS(0))
	}
	require.Equal(t, []string{"event/1/procs=1/objects=1000", "event/1/procs=1/objects=10000"}, names[:2])
	require.Contains(t, names, "sync/procs=2/objects=10000")
	require.Len(t, names, 12)
}
