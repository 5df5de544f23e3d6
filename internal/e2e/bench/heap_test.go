package main

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestPeakIsWhatWasInUseAtOnce(t *testing.T) {
	const block, blocks = 8 << 20, 64
	before := heap()
	most, err := peakWhile(func() error {
		for range blocks { // one at a time: the others are garbage
			b := make([]byte, block)
			b[0] = 1
			runtime.KeepAlive(b)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, most-before, float64(block)/2)
	require.Less(t, most-before, float64(blocks*block)/2)

	_, err = peakWhile(func() error { return errMissing })
	require.ErrorIs(t, err, errMissing)
}

func TestCopiesTakeWhatThePodsTake(t *testing.T) {
	const n = 10_000
	each := copiesOf(podList(n)) / n
	size := float64(unsafe.Sizeof(corev1.Pod{}))
	require.InDelta(t, 1.1*size, each, 0.15*size, "the size, rounded up by the allocator")
}
