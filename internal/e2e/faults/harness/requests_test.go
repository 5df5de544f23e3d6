package harness

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

func TestRequestsAreCounted(t *testing.T) {
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if busy {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	var r Requests
	config := &rest.Config{Host: server.URL}
	r.Count(config)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	defer utilnet.CloseIdleConnectionsFor(client.Transport)

	for _, query := range []string{"?watch=true&sendInitialEvents=true", "?watch=true", "?watch=true", ""} {
		resp, err := client.Get(server.URL + "/" + query)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		busy = false
	}
	require.Equal(t, "1+1+2", r.String())
	require.EqualValues(t, 1, r.States.Load(), "only the list, because the stream was refused")
	require.EqualValues(t, 1, r.TooMany.Load())
	require.EqualValues(t, 3, r.Early.Load(), "all requests within the hour of Retry-After")
}
