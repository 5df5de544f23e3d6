package informer

import (
	"sync"
	"time"
)

// maxLines is the largest number of lines a minute about single objects.
const maxLines = 100

// The messages around omitted lines about single objects.
const (
	floodMessage   = "Too many lines about single objects; suppressing them for a minute"
	floodedMessage = "Suppressed lines about single objects"
)

// flood counts the lines of a minute. Safe for any goroutine.
type flood struct {
	mu    sync.Mutex
	since time.Time // when the minute began
	lines int       // lines since then, logged or not
}

// next counts a line. It returns the number of lines omitted in a minute that has just ended,
// whether this line is to be logged, and whether it is the last one of its minute.
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
