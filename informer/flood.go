package informer

import (
	"context"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/internal/report"
)

// maxLines is how many lines a minute are logged about single objects.
const maxLines = 100

// limited returns a function that logs errors of single objects, of which one
// list may bring as many as it has objects: up to [maxLines] a minute. That
// some are left out, and how many they were, is logged too.
func limited(ctx context.Context) func(err error, message string) {
	f, log := &flood{}, klog.FromContext(ctx)
	return func(err error, message string) {
		missed, logs, last := f.next(time.Now())
		if missed > 0 {
			log.Info("Lines about single objects were left out of the log", "lines", missed)
		}
		if logs {
			report.Error(ctx, err, message)
		}
		if last {
			log.Info("Too many lines about single objects: no more of them for a minute", "lines", maxLines)
		}
	}
}

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
