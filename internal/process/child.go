package process

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// Child is a started process. Its parent sends orders and receives answers. The two programs decide what
// these mean.
type Child struct {
	cmd     *exec.Cmd
	in      io.Closer
	orders  *json.Encoder
	answers *json.Decoder
}

// lastWait is the time that a process has to end before it is killed.
const lastWait = 10 * time.Second

// Start starts this program's file again, with additional environment variables. The process writes to
// the parent's stderr. It is killed when ctx ends.
func Start(ctx context.Context, variables ...string) (*Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), variables...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Child{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

// Send sends an order.
func (c *Child) Send(order any) error { return c.orders.Encode(order) }

// Receive waits for an answer.
func (c *Child) Receive(answer any) error { return c.answers.Decode(answer) }

// PID returns the id of the process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// End closes the pipe, and waits until the process ends.
func (c *Child) End() {
	_ = c.in.Close()                                                       // the process may have ended
	timer := time.AfterFunc(lastWait, func() { _ = c.cmd.Process.Kill() }) // the process may have ended
	defer timer.Stop()
	_ = c.cmd.Wait() // failures are in its answers
}

// Serve runs inside a started process. It calls obey for each order, one after another. When in ends, it
// cancels obey's context and returns. It also returns the first error of obey or of a pipe.
func Serve[O any](ctx context.Context, in io.Reader, obey func(context.Context, O) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	orders := make(chan O)
	ended := make(chan error, 1)
	go func() {
		err := read(ctx, in, orders)
		cancel()
		ended <- err
	}()
	for {
		select {
		case o := <-orders:
			if err := obey(ctx, o); err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
			return <-ended
		}
	}
}

// read decodes orders until in ends.
func read[O any](ctx context.Context, in io.Reader, orders chan<- O) error {
	decoder := json.NewDecoder(in)
	for {
		var o O
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		select {
		case orders <- o:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
