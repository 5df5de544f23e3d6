package reflector

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/metrics"
)

// The Retry-After of an answer that a transport has repeated does not count: the last answer does.
func TestRetryAfterOfARepeatedAnswer(t *testing.T) {
	server := onePod()
	inner, refused := server.list, false
	server.list = func(n int, w http.ResponseWriter, r *http.Request) {
		switch {
		case n == 0:
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
		case !refused:
			refused = true
			w.WriteHeader(http.StatusForbidden)
		default:
			inner(n, w, r)
		}
	}
	config := server.serve(t)
	config.Wrap(Wire)
	config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil && answer.StatusCode == http.StatusServiceUnavailable {
			_ = answer.Body.Close() // it is not needed
			return next.RoundTrip(r)
		}
		return answer, err
	}).around)
	f := follow(t, likeControllerRuntime(t, config), typeOfPod, Options{})
	f.until(func() bool { return f.stored[keyOf("a")] == "6" })
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, backedOff := range eventsOf[BackedOff](f) {
		require.Less(t, backedOff.Delay, 30*time.Second)
	}
}

// sizes is client-go's metric of the sizes of answers.
type sizes struct{ observed atomic.Int64 }

func (s *sizes) Observe(context.Context, string, string, float64) { s.observed.Add(1) }

// client-go does not measure an answer that the reflector has read.
func TestAnswersReadHereAreNotMeasured(t *testing.T) {
	s := &sizes{}
	before := metrics.ResponseSize
	metrics.ResponseSize = s
	t.Cleanup(func() { metrics.ResponseSize = before })
	server := onePod()
	server.stream = func(_ int, w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, podEvent("ADDED", podText("a", "6", ""))+podEvent("BOOKMARK", endText("6")))
		stays(w, r)
	}
	config := server.serve(t)
	f := follow(t, neverStreaming(clients["dynamic"].source(t, config)), clients["dynamic"].object, Options{})
	f.until(func() bool { return f.stored[keyOf("a")] == "6" })
	require.Zero(t, s.observed.Load())
}

// Behind Wire, the client's WarningHandler gets the Warning headers of all answers.
func TestWarningsReachTheHandler(t *testing.T) {
	for _, name := range []string{"generated", "dynamic", "metadata"} {
		t.Run(name, func(t *testing.T) {
			server := onePod()
			server.stream = func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) }
			config := server.serve(t)
			var mu sync.Mutex
			var got []string
			config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				if err == nil {
					answer.Header.Set("Warning", fmt.Sprintf("299 - %q", "watch="+r.URL.Query().Get("watch")+r.URL.Query().Get("sendInitialEvents")))
				}
				return answer, err
			}).around)
			config.WarningHandlerWithContext = warnings(func(text string) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, text)
			})
			f := follow(t, clients[name].source(t, config), clients[name].object, Options{})
			f.until(f.watching(1))
			mu.Lock()
			defer mu.Unlock()
			require.ElementsMatch(t, []string{"watch=truetrue", "watch=", "watch=true"}, got)
		})
	}
}

// warnings is a WarningHandler.
type warnings func(text string)

func (w warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) { w(text) }
