package reflector

import (
	"errors"
	"net/http"
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
	_, err = Wire(refused).RoundTrip(request) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, refused.err)
	require.Equal(t, refused, wire{refused}.WrappedRoundTripper())
}
