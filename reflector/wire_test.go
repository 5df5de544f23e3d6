package reflector

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	kruntime "k8s.io/apimachinery/pkg/runtime"
)

func TestReadable(t *testing.T) {
	const protobuf = kruntime.ContentTypeProtobuf
	for _, row := range []struct {
		code            int
		media, encoding string
		readable        bool
	}{
		{http.StatusOK, protobuf + ";stream=watch", "", true},
		{http.StatusOK, protobuf, "", true},
		{http.StatusOK, "application/json;stream=watch", "", true},
		{http.StatusInternalServerError, protobuf + ";stream=watch", "", false},
		{http.StatusOK, protobuf, "x-none", false},
		{http.StatusOK, "text/html", "", false},
		{http.StatusOK, "application/json;stream", "", false},
		{http.StatusOK, "", "", false},
	} {
		answer := http.Response{StatusCode: row.code, Header: http.Header{"Content-Type": {row.media}, "Content-Encoding": {row.encoding}}}
		require.Equal(t, row.readable, readable(&answer), "%+v", row)
	}
}

type refuser struct{ err error }

func (r refuser) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

func TestWirePassesErrorsOn(t *testing.T) {
	refused := refuser{errors.New("refused")}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1", nil)
	require.NoError(t, err)
	_, err = Wire(refused).RoundTrip(request) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, refused.err)
	require.Equal(t, refused, wire{refused}.WrappedRoundTripper())
}

// The Retry-After of an answer is taken from it once, and known however many Wires it passes through.
func TestRetryAfterThroughTwoWires(t *testing.T) {
	busy := roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"7"}}, Body: http.NoBody}, nil
	})
	d := &delay{wanted: wanted{list: true}}
	request, err := http.NewRequestWithContext(context.WithValue(t.Context(), delayKey{}, d), http.MethodGet, "http://127.0.0.1/api/v1/pods", nil)
	require.NoError(t, err)
	answer, err := NewOwnWrites().Wire(Wire(busy)).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Empty(t, answer.Header.Get("Retry-After"))
	require.Equal(t, 7*time.Second, retryAfter(d.wrap(errors.New("busy"))))
}
