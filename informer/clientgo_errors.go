package informer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func (i *clientgoInformer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	if h == nil {
		return i.SetWatchErrorHandlerWithContext(nil)
	}
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { h(r, err) })
}

// SetWatchErrorHandlerWithContext sets the function called with every error of a list or watch, and
// every quarantined object, one call at a time, with no lock held. While a call hangs, further errors
// are dropped, and the next call says how many. The reflector passed to it only has a name, and never runs. Nil stands
// for the log.
func (i *clientgoInformer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	c := i.core
	inert := sync.OnceValue(func() *cache.Reflector {
		return cache.NewReflectorWithOptions(i.lw, i.example, i.store, cache.ReflectorOptions{Name: c.Name()})
	})
	return c.BeforeRun("the watch error handler", func() {
		i.mu.Lock()
		defer i.mu.Unlock()

		i.onError = nil
		if h != nil {
			i.onError = func(err error) { h(c.RunContext(), inert(), err) }
		}
	})
}

// report passes errors on to the watch error handler. It returns false if there is no handler, or
// the event is no error.
func (i *clientgoInformer) report(e Event) bool {
	i.mu.Lock()
	onError := i.onError
	i.mu.Unlock()
	if onError == nil {
		return false
	}
	var err error
	switch e := e.(type) {
	case reflector.Failed:
		err = e.Err
	case reflector.Skipped:
		err = e.Err
	case error:
		err = e
	default:
		return false
	}
	if err, ok := i.repeats.next(e, err, time.Now()); ok {
		i.errors.Call(err, onError)
	}
	return true
}

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
