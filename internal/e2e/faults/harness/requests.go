package harness

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Requests counts what a client sends, whether or not it arrives.
type Requests struct {
	Lists, Streams, Watches atomic.Int64
	// States is how many lists and streams were answered.
	States atomic.Int64
	// TooMany is how many of them were answered with 429, Early how many were
	// sent before the time that such an answer had named.
	TooMany, Early atomic.Int64

	notBefore atomic.Pointer[time.Time]
}

// Count makes a config count what its clients send.
func (r *Requests) Count(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counting{r, next} })
}

// Total returns how many requests there have been.
func (r *Requests) Total() int { return int(r.Lists.Load() + r.Streams.Load() + r.Watches.Load()) }

// String tells the kinds apart: pages of lists, streams of an initial state, watches.
func (r *Requests) String() string {
	return fmt.Sprintf("%d+%d+%d", r.Lists.Load(), r.Streams.Load(), r.Watches.Load())
}

type counting struct {
	requests *Requests
	next     http.RoundTripper
}

var _ utilnet.RoundTripperWrapper = (*counting)(nil)

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	state := true
	switch q := req.URL.Query(); {
	case q.Has("sendInitialEvents"):
		c.requests.Streams.Add(1)
	case q.Has("watch"):
		c.requests.Watches.Add(1)
		state = false
	default:
		c.requests.Lists.Add(1)
	}
	if until := c.requests.notBefore.Load(); until != nil && time.Now().Before(*until) {
		c.requests.Early.Add(1)
	}
	resp, err := c.next.RoundTrip(req)
	switch {
	case err != nil:
	case resp.StatusCode == http.StatusTooManyRequests:
		c.requests.refused(resp)
	case resp.StatusCode == http.StatusOK && state:
		c.requests.States.Add(1)
	}
	return resp, err
}

// refused notes a 429, and until when the server is to be left alone.
func (r *Requests) refused(resp *http.Response) {
	r.TooMany.Add(1)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		until := time.Now().Add(time.Duration(seconds) * time.Second)
		r.notBefore.Store(&until)
	}
}

// WrappedRoundTripper lets idle connections be closed.
func (c *counting) WrappedRoundTripper() http.RoundTripper { return c.next }
