package informer

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// transform prepares the object of one delta, or quarantines it if the transform fails; a delete
// stays a delete. It returns [ErrStopped] if the run ended before the transform was called or
// returned.
func (s *informerSink) transform(d *deltafifo.Delta, transform func(any) (any, error)) error {
	obj, failed, err := s.transformInRun(d, transform)
	switch {
	case err != nil:
		return err
	case failed != nil:
		s.poison(d, failed)
	default:
		s.transformedTo(d, obj)
	}
	return nil
}

// transformInRun calls the transform for the object of a delta. failed is the transform's error; err is
// [ErrStopped] if the run ended before the transform was called or returned.
func (s *informerSink) transformInRun(d *deltafifo.Delta, transform func(any) (any, error)) (obj any, failed, err error) {
	s.transforming.Store(&d.Key) // before loading stopping: the end of the run sets stopping, then loads this
	if s.core.run.Stopping.Load() {
		s.endTransform(d)
		return nil, nil, ErrStopped
	}
	returned := false
	defer func() {
		if !returned && s.endTransform(d) { // it is ending the goroutine
			s.core.run.Exit(fmt.Errorf("the transform, called for object %.*q: %w", object.MaxText, d.Key, ErrExited))
		}
	}()
	obj, failed = s.callTransform(transform, d.Object)
	returned = true
	if !s.endTransform(d) {
		return nil, nil, ErrStopped
	}
	return obj, failed, nil
}

// transformedTo puts the result of the transform into the delta.
func (s *informerSink) transformedTo(d *deltafifo.Delta, obj any) {
	if s.pass != nil {
		obj = s.pass.Share(d.Object, obj)
	}
	d.Object = obj
	if records.IdentityOf(obj) != identityOf(d) {
		s.core.rewritesIdentity.Store(true)
	}
	// Key, UID and version of the delta stay those of the server.
	if key, ok := keyOf(obj); ok && key != d.Key {
		s.core.rewritesKeys.Store(true)
	}
}

// callTransform calls a transform. It returns an error if the transform panics, or if its result
// cannot be stored.
func (s *informerSink) callTransform(transform func(any) (any, error), obj any) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v", ErrTransform, p)
		}
	}()
	if result, err = transform(obj); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	if err := s.core.objects.validate(result); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	if v := reflect.ValueOf(result); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("%w: it has returned nil", ErrTransform)
	}
	keyOf(result) // methods of the object that panic do so here
	return result, nil
}

// poison removes an object that cannot be prepared from its delta, and reports it.
func (s *informerSink) poison(d *deltafifo.Delta, err error) {
	d.Object = nil
	if d.Op == deltafifo.Deleted {
		d.Lost = true
	} else {
		d.Op, d.Object = deltafifo.Poisoned, err
	}
	report := &QuarantineError{Key: d.Key, Err: err}
	if errors.Is(err, ErrType) {
		s.core.status.refused(report)
	}
	s.core.observe(report)
}

// endTransform is called when the transform has returned for an object, or is ending the goroutine.
// It returns false if the sink was abandoned.
func (s *informerSink) endTransform(from *deltafifo.Delta) bool {
	if s.transforming.CompareAndSwap(&from.Key, nil) {
		return true
	}
	<-s.abandoned
	return false
}

// abandon gives up the sink if its transform is running, and returns the key of the transform's
// object.
func (s *informerSink) abandon() (key indexer.Key, stuck bool) {
	running := s.transforming.Load()
	if running == nil || !s.transforming.CompareAndSwap(running, nil) {
		return key, false
	}
	key = *running // valid: the reflector's goroutine waits until abandoned is closed
	close(s.abandoned)
	return key, true
}
