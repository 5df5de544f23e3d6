package informer

import (
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// repeats keeps the same error of the same object from being told to a watch error
// handler without limit: it is told at first, and then at most once a second, with how
// often it came meanwhile. An object may fail with each of its events. Safe for any
// goroutine.
type repeats struct{ causes causes }

// next returns what is to be told of an event, which is an error; false for nothing.
func (r *repeats) next(e Event, err error, now time.Time) (error, bool) {
	switch e.(type) {
	case *QuarantineError, *indexer.IndexError, reflector.Skipped:
	default:
		return err, true // of no single object
	}
	missed, tells := r.causes.next(err.Error(), now) // the text names the object
	if missed > 0 {
		err = fmt.Errorf("%w (and %d times before)", err, missed)
	}
	return err, tells
}
