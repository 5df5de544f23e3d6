package informer

import (
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// repeats limits the errors passed to a watch error handler, since an object may fail with each of
// its events. The same error of the same object is passed at once, and then at most once a second,
// with the number of times it was omitted. Safe for any goroutine.
type repeats struct{ causes limits.Causes }

// next returns the error to pass for an event, or false if the event is to be omitted.
func (r *repeats) next(e Event, err error, now time.Time) (error, bool) {
	switch e.(type) {
	case *QuarantineError, *indexer.IndexError, reflector.Skipped:
	default:
		return err, true // not about a single object
	}
	missed, tells := r.causes.Next(err.Error(), now) // the text names the object
	if missed > 0 {
		err = fmt.Errorf("%w (and %d times before)", err, missed)
	}
	return err, tells
}
