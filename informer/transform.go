package informer

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
)

// transform prepares the object of one delta, or quarantines it if the transform fails; a delete
// stays a delete.
func (s *informerSink) transform(d *deltafifo.Delta, transform func(any) (any, error)) {
	obj, err := s.callTransform(transform, d.Object)
	if err != nil {
		s.poison(d, err)
		return
	}
	s.transformedTo(d, obj)
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
