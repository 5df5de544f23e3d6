package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"
)

func TestProfilesHoldTidemarksPartOnly(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	file := filepath.Join(t.TempDir(), "profile")
	const theirs, ours, itself = "cache.(*sharedIndexInformer)", "tidemark/informer.(*core)", "main.allocations"

	profiled(t, profiler{memFile: file})
	require.Zero(t, samplesIn(t, file, theirs))
	require.Zero(t, samplesIn(t, file, itself))
	require.Positive(t, samplesIn(t, file, ours))

	profiled(t, profiler{cpuFile: file}) // too short to count on samples
	require.Zero(t, samplesIn(t, file, theirs))
}

func profiled(t *testing.T, p profiler) {
	c := tiny()
	c.profiles = &p
	some, err := matching("^event/1$", works(c))
	require.NoError(t, err)
	_, err = measure(c, some[0])
	require.NoError(t, err)
	require.NoError(t, p.write())
}

// samplesIn adds up the samples of a profile with a function of such a name on
// the stack.
func samplesIn(t *testing.T, file, function string) (sum int64) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	p, err := profile.ParseData(data)
	require.NoError(t, err)
	for _, s := range p.Sample {
		for _, l := range s.Location {
			if strings.Contains(l.Line[0].Function.Name, function) {
				sum += s.Value[0]
				break
			}
		}
	}
	return sum
}
