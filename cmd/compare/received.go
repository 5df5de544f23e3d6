package main

import (
	"io"
	"net/http"
	"strings"
)

// counting is a transport that counts the bytes of each kind, because handlers get the objects of a list only
// after its last byte.
type counting struct {
	next http.RoundTripper
	all  []*watched
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK { // repeated errors are not progress
		return answer, err
	}
	for _, w := range c.all {
		if strings.HasSuffix(r.URL.Path, w.path) {
			answer.Body = countedBody{answer.Body, w}
		}
	}
	return answer, nil
}

// countedBody counts the bytes of an answer.
type countedBody struct {
	io.ReadCloser
	of *watched
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.of.bytes.Add(int64(n))
	return n, err
}

// received returns the bytes of some informers.
func received(all []*watched) (n int64) {
	for _, w := range all {
		n += w.bytes.Load()
	}
	return n
}
