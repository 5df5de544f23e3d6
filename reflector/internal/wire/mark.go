package wire

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mark is in the context of a list or a watch, for the transports of its client. It identifies the
// sender of the request. It also hides a Retry-After, and the error of a connection, from the client,
// which would otherwise repeat the request silently. The reflector would mistake that for a silent
// server.
type Mark struct {
	request
	sender  Sender // sends the request; nil if it cannot use the answers to writes
	seconds atomic.Int64
	from    atomic.Pointer[http.Response]
}

// hiddenError is an error of a connection, in a form that client-go does not know.
type hiddenError struct{ err error }

// Error does not return the text of the error, because client-go looks for words in it.
func (hiddenError) Error() string { return "no answer" }

// hides returns an error that keeps the client from repeating the request.
func (m *Mark) hides(r *http.Request, err error) error {
	if r.Context().Err() == nil && connectionBroke(err) {
		err = hiddenError{err}
	}
	return err
}

// A Sender sends the requests of lists and watches, and receives their objects.
type Sender interface {
	// End is called when the sender no longer sees the results of its requests.
	End()
}

// markKey is the key of a *Mark in a request's context.
type markKey struct{}

// WithMark returns a context for the request of a list or a watch, and its mark.
func WithMark(ctx context.Context, list bool, o metav1.ListOptions, sender Sender) (context.Context, *Mark) {
	m := &Mark{request: request{list: list, options: o}, sender: sender}
	return context.WithValue(ctx, markKey{}, m), m
}

// Marked sends a marked request, once. The error has what the mark has hidden from the client.
func (s Send) Marked(ctx context.Context, o metav1.ListOptions, list bool, sender Sender) (Answer, error) {
	ctx, mark := WithMark(ctx, list, o, sender)
	a, err := s(ctx, o, list)
	return a, mark.Wrap(err)
}

// SenderOf returns the sender of a marked list or watch. It returns nil for any other request.
func SenderOf(r *http.Request) Sender {
	if m := markOf(r); m != nil {
		return m.sender
	}
	return nil
}

// markOf returns the mark in a request's context, if the request is the marked list or watch.
func markOf(r *http.Request) *Mark {
	m, ok := r.Context().Value(markKey{}).(*Mark)
	if !ok {
		return nil
	}
	if t, taken := r.Context().Value(takeoverKey{}).(*takeover); taken && !t.is(r) || !taken && !m.is(r) {
		return nil
	}
	return m
}

// takes removes the Retry-After from an answer, so that the client returns the error. If a
// transport repeats the request, the last answer counts. A second Wire gets the same answer.
func (m *Mark) takes(answer *http.Response) {
	if m.from.Swap(answer) == answer { //nolint:bodyclose // the client closes it
		return
	}
	m.seconds.Store(0)
	after := answer.Header.Get("Retry-After")
	if after == "" || answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode < http.StatusInternalServerError {
		return
	}
	answer.Header = answer.Header.Clone()
	answer.Header.Del("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) { // then it is the largest
		m.seconds.Store(int64(seconds)) //nolint:gosec // of 32 bits
	}
}

// Wrap puts what was hidden back into the client's error.
func (m *Mark) Wrap(err error) error {
	var hidden hiddenError
	if errors.As(err, &hidden) {
		var request *url.Error
		if errors.As(err, &request) {
			return &url.Error{Op: request.Op, URL: request.URL, Err: hidden.err}
		}
		return hidden.err
	}
	if seconds := m.seconds.Load(); err != nil && seconds > 0 {
		return &DelayedError{err, time.Duration(seconds) * time.Second}
	}
	return err
}

// DelayedError is the error of a busy or failing server, with the Retry-After of its answer.
// [Transport] hides the Retry-After from the client.
type DelayedError struct {
	Err   error // the client's
	After time.Duration
}

// Error returns the client's text.
func (e *DelayedError) Error() string { return e.Err.Error() }

// Unwrap returns the client's error.
func (e *DelayedError) Unwrap() error { return e.Err }
