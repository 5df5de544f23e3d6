package informer

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// The errors of this package, to be told apart with errors.Is.
var (
	// ErrNoSource is returned where an informer was made without a source.
	ErrNoSource = errors.New("the informer has no source")
	// ErrTooManySources is returned where an informer was made with more than 65,535
	// sources.
	ErrTooManySources = errors.New("the informer has more than 65,535 sources")
	// ErrNoHandler is returned for a nil handler.
	ErrNoHandler = errors.New("the handler is nil")
	// ErrNegative is returned for a negative period or bound, and for a batch of no
	// changes.
	ErrNegative = errors.New("a number is negative, or zero where it must not be")
	// ErrRunning is returned by a second Run, and for what has to be set before
	// the first.
	ErrRunning = errors.New("the informer is running")
	// ErrStopped is returned for what a stopped informer can no longer do.
	ErrStopped = errors.New("the informer has stopped")
	// ErrNotSynced is returned by WaitSynced where the store did not become
	// complete in time. It wraps the context's cause and the last error of a list or watch.
	ErrNotSynced = errors.New("the informer is not synced")
	// ErrVersion is returned by WaitVersion for a resourceVersion that does not
	// compare with the store's.
	ErrVersion = errors.New("the resourceVersion cannot be compared")
	// ErrState is returned for states that a store cannot be filled with.
	ErrState = errors.New("not what the sources held at a version")
	// ErrTransform is returned, wrapped in a [QuarantineError], where the
	// transform failed on an object.
	ErrTransform = errors.New("the transform failed")
	// ErrQuarantined is returned by those who wait for a version, or for an object, that
	// could not be prepared: the store does not hold it. Observe was told why.
	ErrQuarantined = errors.New("the object is quarantined")
	// ErrDecode is told, wrapped in a [QuarantineError], of an object that could
	// not be decoded.
	ErrDecode = errors.New("the object cannot be decoded")
	// ErrType is returned for an object that is not of the informer's type.
	ErrType = indexer.ErrType
)

// undecodable is the error of an object that could not be decoded.
func undecodable(err error) error { return fmt.Errorf("%w: %w", ErrDecode, err) }

func cut(text string) string { return fmt.Sprintf("%.*s", object.MaxText, text) }

// QuarantineError tells that one object could not be prepared for the store:
// it could not be decoded, or its transform failed. A version that was stored before stays, and
// is stale; the object is tried again with its next event and with each list.
type QuarantineError struct {
	Key indexer.Key
	Err error
}

func (e *QuarantineError) Error() string {
	return fmt.Sprintf("object %.*q is quarantined: %.*v", object.MaxText, e.Key, object.MaxText, e.Err)
}

// Unwrap returns why.
func (e *QuarantineError) Unwrap() error { return e.Err }

// TransformStuckError tells that a transform had not returned at the end of a run,
// which did not wait for it. What it returns later is dropped.
type TransformStuckError struct {
	Key indexer.Key // of the object that it was called with
}

func (e *TransformStuckError) Error() string {
	return fmt.Sprintf("the transform does not return for object %.*q", object.MaxText, e.Key)
}
