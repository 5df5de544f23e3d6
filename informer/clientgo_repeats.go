package informer

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

const (
	repeatPause = time.Second // between two equal errors of one object that are told
	maxRepeats  = 1000        // objects whose errors are remembered
)

// repeats keeps the same error of the same object from being told to a watch error
// handler without limit: it is told at first, and then at most once a second, with how
// often it came meanwhile. An object may fail with each of its events. Safe for any
// goroutine.
type repeats struct {
	mu   sync.Mutex
	told map[string]repeat // by the error's text, which names the object
}

type repeat struct {
	at     time.Time
	missed int // how often it came since
}

// next returns what is to be told of an event, which is an error; false for nothing.
func (r *repeats) next(e Event, err error, now time.Time) (error, bool) {
	switch e.(type) {
	case *QuarantineError, *indexer.IndexError, reflector.Skipped:
	default:
		return err, true // of no single object
	}
	text := err.Error()
	r.mu.Lock()
	defer r.mu.Unlock()

	was, known := r.told[text]
	if known && now.Sub(was.at) < repeatPause {
		r.told[text] = repeat{was.at, was.missed + 1}
		return nil, false
	}
	r.trim(now)
	if r.told == nil {
		r.told = make(map[string]repeat)
	}
	r.told[text] = repeat{at: now}
	if was.missed > 0 {
		err = fmt.Errorf("%w (and %d times before)", err, was.missed)
	}
	return err, true
}

// trim forgets errors that are due again, and all of them where these are too many.
func (r *repeats) trim(now time.Time) {
	if len(r.told) < maxRepeats {
		return
	}
	maps.DeleteFunc(r.told, func(_ string, was repeat) bool { return now.Sub(was.at) >= repeatPause })
	if len(r.told) >= maxRepeats {
		clear(r.told)
	}
}
