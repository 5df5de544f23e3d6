package informer

import (
	"maps"
	"sync"
	"time"
)

const (
	// repeatEvery is the shortest time between two lines of one cause.
	repeatEvery = time.Second
	// mostCauses is the largest number of causes remembered.
	mostCauses = 1000
)

// causes counts lines by their causes. The zero value is ready to use, by any goroutine.
type causes struct {
	mu    sync.Mutex
	known map[string]*toldCause
}

// toldCause records when a line of a cause was last written, and how many were omitted since.
type toldCause struct {
	written time.Time
	left    int
}

// next counts a line. It reports whether the line is to be written, and how many lines of its cause
// were omitted since the last one.
func (r *causes) next(cause string, now time.Time) (left int, writes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	known := r.known[cause]
	if known == nil {
		r.add(cause, now)
		return 0, true
	}
	if now.Sub(known.written) < repeatEvery {
		known.left++
		return 0, false
	}
	left, *known = known.left, toldCause{written: now}
	return left, true
}

// add adds a cause. If there are too many, it drops causes that have not occurred lately.
func (r *causes) add(cause string, now time.Time) {
	if len(r.known) >= mostCauses {
		maps.DeleteFunc(r.known, func(_ string, known *toldCause) bool { return now.Sub(known.written) >= repeatEvery && known.left == 0 })
	}
	if len(r.known) >= mostCauses {
		clear(r.known)
	}
	if r.known == nil {
		r.known = make(map[string]*toldCause)
	}
	r.known[cause] = &toldCause{written: now}
}
