package harness

import (
	"fmt"
	"net/http"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Requests counts what a client sends, whether or not it arrives.
type Requests struct {
	Lists, Streams, Watches atomic.Int64
	// TooMany is how many of them were answered with 429.
	TooMany atomic.Int64
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
	switch q := req.URL.Query(); {
	case q.Has("sendInitialEvents"):
		c.requests.Streams.Add(1)
	case q.Has("watch"):
		c.requests.Watches.Add(1)
	default:
		c.requests.Lists.Add(1)
	}
	resp, err := c.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		c.requests.TooMany.Add(1)
	}
	return resp, err
}

// WrappedRoundTripper lets idle connections be closed.
func (c *counting) WrappedRoundTripper() http.RoundTripper { return c.next }
