package main

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// arrival notes when the last bytes came from the server. What lies between that
// and a handler's call is the client's: decoding, and the informer. Where more
// came meanwhile, less is measured than has passed, which favours the slower one.
type arrival struct{ nanos atomic.Int64 }

func (a *arrival) since(now time.Time) time.Duration { return now.Sub(time.Unix(0, a.nanos.Load())) }

// wrap is for rest.Config.
func (a *arrival) wrap(next http.RoundTripper) http.RoundTripper { return &noting{a, next} }

type noting struct {
	arrival *arrival
	next    http.RoundTripper
}

// WrappedRoundTripper returns the transport that does the work.
func (n *noting) WrappedRoundTripper() http.RoundTripper { return n.next }

func (n *noting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(req)
	if err == nil {
		resp.Body = &noted{resp.Body, n.arrival}
	}
	return resp, err
}

type noted struct {
	io.ReadCloser
	arrival *arrival
}

func (n *noted) Read(p []byte) (int, error) {
	read, err := n.ReadCloser.Read(p)
	if read > 0 {
		n.arrival.nanos.Store(time.Now().UnixNano())
	}
	return read, err
}
