package main

import (
	"net/http"
	"sync/atomic"
	"time"
)

// silencer makes watches silent: they stay open, but send nothing more.
type silencer struct{ on atomic.Bool }

// fault is a [harness.Fault].
func (h *silencer) fault(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(&silencedWriter{w, h}, r)
}

type silencedWriter struct {
	http.ResponseWriter
	silencer *silencer
}

// Write sends p, or drops it and returns success.
func (h *silencedWriter) Write(p []byte) (int, error) {
	if h.silencer.on.Load() {
		return len(p), nil
	}
	return h.ResponseWriter.Write(p)
}

// Unwrap allows flushing.
func (h *silencedWriter) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// slow is a [harness.Fault] that sends one kilobyte every 400 ms, uncompressed.
func slow(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Header.Del("Accept-Encoding")
	next.ServeHTTP(&slowed{w, r}, r)
}

type slowed struct {
	http.ResponseWriter
	request *http.Request
}

// Write sends p in small pieces.
func (s *slowed) Write(p []byte) (sent int, err error) {
	for sent < len(p) && err == nil {
		if err := wait(s.request.Context(), 400*time.Millisecond); err != nil {
			return sent, err
		}
		var n int
		n, err = s.ResponseWriter.Write(p[sent:min(len(p), sent+1024)])
		sent += n
		_ = http.NewResponseController(s.ResponseWriter).Flush() // best effort
	}
	return sent, err
}

// Unwrap allows flushing.
func (s *slowed) Unwrap() http.ResponseWriter { return s.ResponseWriter }
