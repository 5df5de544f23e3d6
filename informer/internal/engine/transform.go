package engine

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// transform prepares the object of a delta, or quarantines it if the transform fails. A delete stays a
// delete.
func (s *Sink) transform(d *deltafifo.Delta) {
	obj, err := s.transformed(d)
	if err != nil {
		s.poison(d, err)
		return
	}
	d.Object = obj // the delta keeps the server's key, UID and version
}

// transformed returns the transform's result for the object of a delta, with shared values.
func (s *Sink) transformed(d *deltafifo.Delta) (any, error) {
	obj, err := s.callTransform(d)
	if err == nil && s.pass != nil {
		obj = s.pass.Share(d.Object, obj)
	}
	return obj, err
}

// callTransform calls the transform. It returns an error if the transform panics, or if its result
// cannot be stored.
func (s *Sink) callTransform(d *deltafifo.Delta) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v", ErrTransform, p)
		}
	}()
	if result, err = s.core.options.Transform(d.Object); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	if err := s.core.objects.Validate(result); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	if object.IsNil(result) {
		return nil, fmt.Errorf("%w: it returned nil", ErrTransform)
	}
	if key, ok := object.KeyOf(result); ok && key != d.Key { // a method of the object that panics does so here
		return nil, fmt.Errorf("%w: it renamed the object to %.*q", ErrTransform, object.MaxText, key)
	}
	return result, nil
}

// poison replaces an object that cannot be prepared with its error, and reports it.
func (s *Sink) poison(d *deltafifo.Delta, err error) {
	d.Object = nil
	if d.Op == deltafifo.Deleted {
		d.Lost = true
	} else {
		d.Op, d.Object = deltafifo.Poisoned, err
	}
	if errors.Is(err, ErrType) {
		s.core.status.refused()
	}
	s.core.observe(&QuarantineError{Key: d.Key, Err: err})
}
