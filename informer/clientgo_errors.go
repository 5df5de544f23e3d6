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

// SetWatchErrorHandlerWithContext sets the function that gets every error of a list or watch, and every
// quarantined object. Calls do not overlap, and hold no lock. While a call hangs, further errors are dropped;
// the next call has their number. The reflector passed to it has a name, and never runs. With nil, errors are
// logged.
func (i *clientgoInformer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	c := i.core
	inert := sync.OnceValue(func() *cache.Reflector {
		return cache.NewReflectorWithOptions(i.lw, i.example, i.store, cache.ReflectorOptions{Name: c.Name()})
	})
	return c.BeforeRun("SetWatchErrorHandler", func() {
		i.mu.Lock()
		defer i.mu.Unlock()

		i.onError = nil
		if h != nil {
			i.onError = func(err error) { h(c.RunContext(), inert(), err) }
		}
	})
}

// report passes an error to the watch error handler. It returns false without a handler, and for an event
// that is not an error.
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

// repeats limits the errors passed to a watch error handler, because an object may fail with each of its
// events. The first error of an object is passed at once. Equal ones follow at most once a second, with the
// number of omitted errors. Safe for concurrent use.
type repeats struct{ causes limits.Causes }

// next returns the error to pass for an event, or false if the event is omitted.
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
