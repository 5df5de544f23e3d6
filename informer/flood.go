package informer

import (
	"sync"
	"time"
)

// maxLines is how many lines a minute are logged about single objects.
const maxLines = 100

// What is logged where lines about single objects are left out.
const (
	floodMessage   = "Too many lines about single objects; suppressing them for a minute"
	floodedMessage = "Suppressed lines about single objects"
)

// flood counts the lines of a minute. Safe for any goroutine.
type flood struct {
	mu    sync.Mutex
	since time.Time // when the minute began
	lines int       // that there were to log since then
}

// next counts a line. It tells how many were left out in a minute that has
// just ended, whether this one is to be logged, and whether it is the last one.
func (f *flood) next(now time.Time) (missed int, logs, last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if now.Sub(f.since) >= time.Minute {
		missed = max(0, f.lines-maxLines)
		f.since, f.lines = now, 0
	}
	f.lines++
	return missed, f.lines <= maxLines, f.lines == maxLines
}
