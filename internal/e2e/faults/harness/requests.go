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

// Requests counts a client's requests, whether or not they reach the server.
type Requests struct {
	Lists, Streams, Watches atomic.Int64
	// States counts the answered lists and streams.
	States atomic.Int64
	// TooMany counts the 429 answers, and Early the requests that were sent before the Retry-After of
	// such an answer had passed.
	TooMany, Early atomic.Int64

	notBefore atomic.Pointer[time.Time]
}

// Count makes a config's clients count their requests in r.
func (r *Requests) Count(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counting{r, next} })
}

// Total returns the number of requests.
func (r *Requests) Total() int { return int(r.Lists.Load() + r.Streams.Load() + r.Watches.Load()) }

// String describes the requests by kind: pages of lists, streams of an initial state, and watches.
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

// refused counts a 429 answer, and records when its Retry-After ends.
func (r *Requests) refused(resp *http.Response) {
	r.TooMany.Add(1)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		until := time.Now().Add(time.Duration(seconds) * time.Second)
		r.notBefore.Store(&until)
	}
}

// WrappedRoundTripper allows closing idle connections.
func (c *counting) WrappedRoundTripper() http.RoundTripper { return c.next }
