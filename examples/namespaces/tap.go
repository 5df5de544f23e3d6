package main

import (
	"io"
	"log"
	"net/http"
	"sync"
)

// tap returns a transport wrapper that prints when a watch request begins and ends.
func tap(out *log.Logger) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			query := r.URL.Query()
			if err != nil || response.StatusCode != http.StatusOK || query.Get("watch") != "true" {
				return response, err
			}
			what := r.URL.Path
			if labels := query.Get("labelSelector"); labels != "" {
				what += " of " + labels
			}
			out.Printf("watch begins: %s", what)
			response.Body = tapped{response.Body, sync.OnceFunc(func() { out.Printf("watch ends: %s", what) })}
			return response, nil
		})
	}
}

// roundTripper makes a function an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// tapped is the body of a watch, which is closed when the watch ends.
type tapped struct {
	io.ReadCloser
	ended func()
}

func (t tapped) Close() error {
	t.ended()
	return t.ReadCloser.Close()
}
