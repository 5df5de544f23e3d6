package harness

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// OnWrites returns a fault that affects every nth write. The faults take turns. All other requests get
// the fault otherwise, or the server's answer if otherwise is nil.
func OnWrites(every int, otherwise Fault, faults ...Fault) Fault {
	var writes atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet {
			if n := int(writes.Add(1)); n%every == 0 {
				faults[n/every%len(faults)](w, r, next)
				return
			}
		}
		if otherwise != nil {
			otherwise(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// HoldAnswer returns a fault that delays the server's answer.
func HoldAnswer(by time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := answerOf(r, next)
		timer := time.NewTimer(by)
		defer timer.Stop()
		select {
		case <-timer.C:
			pass(w, answer, answer.Body.Len())
		case <-r.Context().Done():
		}
	}
}

// LoseAnswer is a fault that breaks the connection after the server has answered.
func LoseAnswer(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	answerOf(r, next)
	panic(http.ErrAbortHandler)
}

// TruncateAnswer is a fault that breaks the connection in the middle of the server's answer.
func TruncateAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := answerOf(r, next)
	pass(w, answer, answer.Body.Len()/2)
	_ = http.NewResponseController(w).Flush() // best effort
	panic(http.ErrAbortHandler)
}

// DenyAnswer is a fault that reports a server timeout, although the server has answered.
func DenyAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answerOf(r, next)
	w.WriteHeader(http.StatusGatewayTimeout)
}

// answerOf returns the server's answer to a request.
func answerOf(r *http.Request, next http.Handler) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	return answer
}

// pass sends the first bytes of an answer.
func pass(w http.ResponseWriter, answer *httptest.ResponseRecorder, bytes int) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()[:bytes]) // the client may have disconnected
}
