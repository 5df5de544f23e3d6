package process

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMetersOfOtherProcesses(t *testing.T) {
	require.InEpsilon(t, PeakRSS(), PeakRSSOf(os.Getpid()), 0.1)
	require.InDelta(t, CPU(), CPUOf(os.Getpid()), float64(200*time.Millisecond))
	require.Zero(t, CPUOf(-1))
	require.Zero(t, PeakRSSOf(-1))
}
