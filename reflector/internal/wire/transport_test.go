package wire

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

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
	_, err = Transport{refused}.RoundTrip(request) //nolint:bodyclose // there is no body
	require.ErrorIs(t, err, refused.err)
	require.Equal(t, refused, Transport{refused}.WrappedRoundTripper())
}

// A mark is for one request, and not for other requests with the same context.
func TestAMarkIsForOneRequest(t *testing.T) {
	mark := &takeover{request: request{path: "/pods", list: true}}
	r := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
	require.True(t, mark.claims(r))
	require.False(t, mark.claims(r), "a second time")
	for _, other := range []*http.Request{
		httptest.NewRequest(http.MethodPost, "/api/v1/pods", nil),
		httptest.NewRequest(http.MethodGet, "/api/v1/pods?watch=true", nil),
		httptest.NewRequest(http.MethodGet, "/api/v1/nodes", nil),
		httptest.NewRequest(http.MethodGet, "/api/v1/pods?limit=500", nil),
		httptest.NewRequest(http.MethodGet, "/api/v1/pods?resourceVersion=0", nil),
		httptest.NewRequest(http.MethodGet, "/api/v1/pods?continue=x", nil),
	} {
		require.False(t, (&takeover{request: request{path: "/pods", list: true}}).claims(other), other.URL)
	}
	require.False(t, request{list: true}.is(httptest.NewRequest(http.MethodGet, "/token", nil)), "not a path of the API")
	require.True(t, request{list: true}.is(r))
}
