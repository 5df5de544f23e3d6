package limits

import (
	"maps"
	"sync"
	"time"
)

const (
	// RepeatEvery is the shortest time between two lines of one cause.
	RepeatEvery = time.Second
	// MostCauses is the largest number of causes remembered.
	MostCauses = 1000
)

// Causes counts lines by cause. The zero value is ready to use. Safe for concurrent use.
type Causes struct {
	mu    sync.Mutex
	known map[string]*cause
}

// cause records when a line of a cause was last written, and how many were omitted since.
type cause struct {
	written time.Time
	left    int
}

// Next counts a line. It reports whether to write the line, and the number of lines with its cause that were
// omitted since the last one.
func (r *Causes) Next(cause string, now time.Time) (left int, writes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	known := r.known[cause]
	if known == nil {
		r.add(cause, now)
		return 0, true
	}
	if now.Sub(known.written) < RepeatEvery {
		known.left++
		return 0, false
	}
	left, known.left, known.written = known.left, 0, now
	return left, true
}

// add adds a cause. If there are too many, it drops causes that have not occurred lately.
func (r *Causes) add(of string, now time.Time) {
	if len(r.known) >= MostCauses {
		maps.DeleteFunc(r.known, func(_ string, known *cause) bool { return now.Sub(known.written) >= RepeatEvery && known.left == 0 })
	}
	if len(r.known) >= MostCauses {
		clear(r.known)
	}
	if r.known == nil {
		r.known = make(map[string]*cause)
	}
	r.known[of] = &cause{written: now}
}

// MaxLines is the largest number of lines about single objects in a minute.
const MaxLines = 100

// Flood counts the lines about single objects in a minute.
type Flood struct {
	mu    sync.Mutex
	since time.Time // when the minute began
	lines int       // lines since then, logged or not
}

// Next counts a line. It returns the number of lines omitted in a minute that has just ended, whether to log
// this line, and whether this line is the last one of its minute.
func (f *Flood) Next(now time.Time) (missed int, logs, last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if now.Sub(f.since) >= time.Minute {
		missed = max(0, f.lines-MaxLines)
		f.since, f.lines = now, 0
	}
	f.lines++
	return missed, f.lines <= MaxLines, f.lines == MaxLines
}
