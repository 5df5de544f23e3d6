package demo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var errUse = errors.New("no use")

// A story that cannot begin is an error. A story that ends is reported.
func TestStoriesThatFail(t *testing.T) {
	notes := &bytes.Buffer{}
	fails := func(context.Context, *informertest.Server) error { return errUse }
	err := parsed(t, "--demo").Run(t.Context(), log.New(notes, "", 0), Story{Begin: fails}, nil)
	require.ErrorIs(t, err, errUse)
	assert.ErrorContains(t, err, "the demo cluster cannot start")
	assert.Empty(t, notes.String())

	err = parsed(t, "--demo").Run(t.Context(), log.New(notes, "", 0), Story{Go: fails}, func(_ context.Context, c Cluster) error {
		assert.True(t, c.Demo)
		return nil
	})
	require.NoError(t, err)
	assert.Contains(t, notes.String(), "this is a demo cluster: an API server in this process, http://127.0.0.1:")
}

// An error counts unless the user has interrupted the program.
func TestErrorsAfterAnInterrupt(t *testing.T) {
	path := program.WriteKubeconfig(t, "http://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	use := func(_ context.Context, c Cluster) error {
		assert.Equal(t, "the kubeconfig "+path, c.Origin)
		assert.False(t, c.Demo)
		return errUse
	}
	f := parsed(t, "--kubeconfig", path)
	require.ErrorIs(t, f.Run(ctx, nil, Story{}, use), errUse)
	cancel()
	require.NoError(t, f.Run(ctx, nil, Story{}, use))
}

// The duration of --for ends the context, and an error still counts.
func TestTheTimeIsUp(t *testing.T) {
	f := parsed(t, "--kubeconfig", program.WriteKubeconfig(t, "http://127.0.0.1:1"), "--for", "1ms")
	err := f.Run(t.Context(), nil, Story{}, func(ctx context.Context, _ Cluster) error {
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// terminal is an output that looks like a terminal.
type terminal struct{ bytes.Buffer }

func (*terminal) Stat() (fs.FileInfo, error) { return os.Stat(os.DevNull) }

func TestTerminals(t *testing.T) {
	t.Setenv("TERM", "xterm")
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	assert.True(t, IsTerminal(new(terminal)))
	assert.False(t, IsTerminal(file))
	assert.False(t, IsTerminal(new(bytes.Buffer)))
	t.Setenv("TERM", "dumb")
	assert.False(t, IsTerminal(new(terminal)))
}
