package wire

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Send sends the request of a list or a watch through a client.
type Send func(ctx context.Context, o metav1.ListOptions, list bool) (Answer, error)

// TakingClient sends requests through a client whose code is known. It takes over the answers if
// the client's transport contains a [Transport].
type TakingClient struct {
	send  Send
	path  string                 // the end of the requests' paths; "" if unknown
	place atomic.Pointer[string] // see request
	// passedBy is true once a transport around Wire has replaced a body that was taken over, so
	// that the client and the reflector saw different bytes. From then on the client decodes.
	passedBy atomic.Bool
}

// NewTakingClient returns a TakingClient whose requests have a path that ends with path, which is "" if
// unknown.
func NewTakingClient(send Send, path string) *TakingClient {
	return &TakingClient{send: send, path: path}
}

// Ask sends a request through the client. The client's call of List returns only when the body that
// was taken over is closed.
func (c *TakingClient) Ask(ctx context.Context, o metav1.ListOptions, list bool) (Answer, error) {
	if c.passedBy.Load() {
		if m, ok := ctx.Value(markKey{}).(*Mark); ok && m.sender != nil {
			m.sender.End()
		}
		return c.send(ctx, o, list)
	}
	t := &takeover{request: request{list, o, c.path, &c.place}, body: make(chan *realBody, 1)}
	returned := make(chan Outcome[Answer], 1)
	go func() {
		result := Outcome[Answer]{}
		defer func() { returned <- result }() // even if a transport has ended the goroutine
		result.From(func() (Answer, error) {
			return c.send(context.WithValue(ctx, takeoverKey{}, t), o, list)
		})
	}()
	select {
	case body := <-t.body:
		return c.take(ctx, body, list, returned)
	case result := <-returned:
		returned <- result
		select {
		case body := <-t.body:
			return c.take(ctx, body, list, returned)
		default:
			return result.Value, result.Err
		}
	}
}

// take returns a body as the answer. A watch is checked first, because its client returns at once.
func (c *TakingClient) take(ctx context.Context, body *realBody, list bool, returned <-chan Outcome[Answer]) (Answer, error) {
	if list {
		body.finish = func() error { return c.check(ctx, body, <-returned) }
		return Answer{Body: body}, nil
	}
	select {
	case result := <-returned:
		body.finish = func() error {
			result.Value.Close()
			return nil
		}
		err := result.Err
		if err == nil {
			err = c.check(ctx, body, result)
		}
		if err != nil {
			_ = body.Close() // the client's error is returned
			return Answer{}, err
		}
		return Answer{Body: body}, nil
	case <-ctx.Done():
		body.finish = func() error { return nil }
		_ = body.Close() // the context's error is returned
		return Answer{}, context.Cause(ctx)
	}
}

// check returns an error if the client had time to read the stand-in but did not. It runs after the
// client's call has returned. It cannot notice a transport that reads a body and then returns a
// copy of the answer with another body.
func (c *TakingClient) check(ctx context.Context, body *realBody, result Outcome[Answer]) error {
	in := body.standIn
	switch {
	case errors.Is(result.Err, indexer.ErrExited):
		return result.Err
	case ctx.Err() != nil:
		return nil //nolint:nilerr // the client had no time to read
	case body.cut:
		return result.Err // the error is the client's timeout
	case in.timedOut():
		return nil
	case in.isBehind(in.answer.Body) && (!in.list || in.read.Load()):
		return nil
	case in.isBehind(in.answer.Body) && result.Err != nil:
		return result.Err // the error of a transport around Wire
	default:
		c.passedBy.Store(true)
		return errReplaced
	}
}

// Answer is the body of an answer, or what a client has decoded from it.
type Answer struct {
	Body  io.ReadCloser
	List  runtime.Object
	Watch watch.Interface
}

// Close releases an answer that is not needed.
func (a Answer) Close() {
	if a.Body != nil {
		_ = a.Body.Close() // the body is not read to its end
	}
	if a.Watch != nil {
		a.Watch.Stop()
	}
}
