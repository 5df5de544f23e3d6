package wire

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	// connectAttempts is the number of times a request is sent on broken connections.
	connectAttempts = 10
	// connectPause is the least time between two of the connectAttempts of a request on a broken
	// connection; a random part of it is added, since all informers shared the connection. Both
	// values are client-go's.
	connectPause = time.Second
)

// persistently repeats a request if the connection broke before the answer. Do and Watch of
// client-go's request repeat it as well, but Stream does not. A server that says when to try again is
// left to the reflector.
func persistently(ctx context.Context, watch bool, send func() (io.ReadCloser, error)) (body io.ReadCloser, err error) {
	for attempt := 1; ; attempt++ {
		body, err = send()
		if err == nil || !connectionBroke(err, watch) || attempt == connectAttempts || ctx.Err() != nil {
			return body, err
		}
		pause := time.NewTimer(connectPause + rand.N(connectPause))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

func connectionBroke(err error, watch bool) bool {
	return utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		watch && utilnet.IsTimeout(err)
}

// watchError returns the error that ended a watch, or nil. The end of the body, a broken connection
// and a time-out are no errors: the watch is reopened.
func watchError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || connectionBroke(err, true) {
		return nil
	}
	return err
}

// delayedByServer adds the Retry-After to the error of a failing server.
func delayedByServer(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError {
		if seconds, says := apierrors.SuggestsClientDelay(err); says && seconds > 0 {
			return &DelayedError{err, time.Duration(seconds) * time.Second}
		}
	}
	return err
}
