package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// sleeper returns a shell process, which starts quickly.
func sleeper(t *testing.T, script string) *Process {
	t.Helper()
	p := &Process{
		name: "sleeper", path: "/bin/sh", args: []string{"-c", script}, log: filepath.Join(t.TempDir(), "sleeper.log"),
		ready: func(context.Context) error { return nil },
	}
	t.Cleanup(p.Kill)
	return p
}

func TestProcessStartsAgain(t *testing.T) {
	p := sleeper(t, "exec sleep 1000")
	require.ErrorIs(t, p.Freeze(), ErrNotRunning)
	for range 3 {
		require.NoError(t, p.Start(t.Context()))
		require.NoError(t, p.Freeze())
		p.Kill() // also a frozen process
		<-p.Exited()
		require.ErrorIs(t, p.Thaw(), ErrNotRunning)
	}
	require.NoError(t, p.Start(t.Context()))
	p.Terminate()
	<-p.Exited()
}

func TestProcessThatEndsIsAnError(t *testing.T) {
	p := sleeper(t, "echo no luck; exit 3")
	p.ready = func(context.Context) error { return os.ErrDeadlineExceeded }
	err := p.Start(t.Context())
	require.ErrorIs(t, err, ErrEnded)
	require.ErrorContains(t, err, "no luck")
}

func TestMissingBinariesAreAnError(t *testing.T) {
	t.Setenv(binVariable, "")
	_, err := Start(t.Context(), t.TempDir(), Options{})
	require.ErrorIs(t, err, ErrNoBinaries)
	t.Setenv(binVariable, t.TempDir())
	_, err = Start(t.Context(), t.TempDir(), Options{})
	require.ErrorIs(t, err, ErrNoBinaries)
}
