package process

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// roleVariable tells the started process what to do: to answer with its own figures, or to work until it
// is stopped.
const roleVariable = "TIDEMARK_PROCESS_TEST"

type order struct{ Work bool }

type answer struct {
	PID      int
	CPU      time.Duration
	RSS      uint64
	Canceled bool
}

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	answers := json.NewEncoder(out)
	return Serve(ctx, in, func(ctx context.Context, o order) error {
		if err := answers.Encode(answer{PID: os.Getpid(), CPU: CPU(), RSS: PeakRSS()}); err != nil || !o.Work {
			return err
		}
		<-ctx.Done()
		return answers.Encode(answer{Canceled: true})
	})
}

func TestChildAnswersAndEnds(t *testing.T) {
	child, err := Start(t.Context(), roleVariable+"=1")
	require.NoError(t, err)
	defer child.End()

	for range 2 {
		require.NoError(t, child.Send(order{}))
		var a answer
		require.NoError(t, child.Receive(&a))
		require.Equal(t, child.PID(), a.PID)
		require.NotZero(t, a.CPU)
		require.NotZero(t, a.RSS)
	}
	child.End()

	require.True(t, child.cmd.ProcessState.Success(), "%v", child.cmd.ProcessState)
}

// A process that is working when its parent closes the pipe ends by itself.
func TestChildAtWorkEndsWithThePipe(t *testing.T) {
	child, err := Start(t.Context(), roleVariable+"=1")
	require.NoError(t, err)
	require.NoError(t, child.Send(order{Work: true}))
	var a answer
	require.NoError(t, child.Receive(&a))

	require.NoError(t, child.in.Close())

	require.NoError(t, child.Receive(&a))
	require.True(t, a.Canceled)
	child.End()
	require.True(t, child.cmd.ProcessState.Success(), "%v", child.cmd.ProcessState)
}

func TestChildEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	child, err := Start(ctx, roleVariable+"=1")
	require.NoError(t, err)

	cancel()

	require.Error(t, child.Receive(new(answer)))
	child.End()
	require.False(t, child.cmd.ProcessState.Success())
}

func TestServeReturnsWhatIsNoOrder(t *testing.T) {
	in, orders := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(t.Context(), in, io.Discard) }()

	_, err := io.WriteString(orders, "{\"Work\": 3}\n")

	require.NoError(t, err)
	require.ErrorContains(t, <-ended, "order.Work")
}

func TestHeapHasNoGarbage(t *testing.T) {
	before := Heap()
	kept := make([]byte, 8<<20)
	with := Heap()
	require.GreaterOrEqual(t, with, before+8<<20-1<<19)
	clear(kept)

	require.Less(t, Heap(), with-4<<20) // kept is garbage now
}
