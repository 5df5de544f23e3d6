package reflector

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// If a server is too busy for a stream, the reflector, and not its client, waits for the Retry-After
// and reports it. Streams stay enabled.
func TestABusyServerIsToldAndObeyed(t *testing.T) {
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &pods{stream: func(n int, w http.ResponseWriter, r *http.Request) {
				if n == 0 {
					w.Header().Set("Retry-After", "2")
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				_, _ = io.WriteString(w, podEvent("BOOKMARK", endText("5")))
				stays(w, r)
			}}
			config := server.serve(t)
			f := follow(t, client.source(t, config), client.object, Options{})
			f.until(f.watching(1))
			f.mu.Lock()
			defer f.mu.Unlock()
			failures := eventsOf[Failed](f)
			require.Len(t, failures, 1)
			require.True(t, apierrors.IsTooManyRequests(failures[0].Err), failures[0].Err)
			backedOff := eventsOf[BackedOff](f)
			require.Len(t, backedOff, 1)
			require.InDelta(t, 2*time.Second, backedOff[0].Delay, float64(firstDelay))
			require.GreaterOrEqual(t, backedOff[0].Delay, 2*time.Second)
			require.Equal(t, OpStream, eventsOf[Listed](f)[0].Operation)
			require.Equal(t, `stream at "", stream at ""`, server.requests())
			require.GreaterOrEqual(t, server.at[1].Sub(server.at[0]), 2*time.Second)
		})
	}
}

// A failing server with a Retry-After is asked again after that time, as by client-go's clients. A
// busy server is not, nor is a server without a Retry-After.
func TestAskAgain(t *testing.T) {
	answer := func(code, seconds int) error {
		return apierrors.NewGenericServerResponse(code, "list", podGVR.GroupResource(), "", "", seconds, true)
	}
	for name, row := range map[string]struct {
		err   error
		delay time.Duration
	}{
		"an answer":                     {nil, 0},
		"a broken connection":           {io.ErrUnexpectedEOF, connectPause},
		"unavailable":                   {answer(http.StatusServiceUnavailable, 3), 3 * time.Second},
		"unavailable, for it knows not": {answer(http.StatusServiceUnavailable, 0), 0},
		"too busy":                      {answer(http.StatusTooManyRequests, 3), 0},
		"forbidden":                     {answer(http.StatusForbidden, 3), 0},
	} {
		delay, again := askAgain(row.err, false)
		require.Equal(t, row.delay, delay, name)
		require.Equal(t, row.delay > 0, again, name)
	}
}
