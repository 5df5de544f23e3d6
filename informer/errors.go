package informer

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// The errors of this package, for errors.Is.
var (
	// ErrNoSource is returned by an informer made without a source.
	ErrNoSource = errors.New("the informer has no source")
	// ErrTooManySources is returned by an informer made with more than 65,535 sources.
	ErrTooManySources = errors.New("the informer has more than 65,535 sources")
	// ErrNoHandler is returned for a nil handler.
	ErrNoHandler = errors.New("the handler is nil")
	// ErrNegative is returned for a negative period or bound, and for a batch size below 1.
	ErrNegative = errors.New("a number is negative, or zero where it must not be")
	// ErrRunning is returned by a second Run, and for settings that must be made before the first.
	ErrRunning = errors.New("the informer is running")
	// ErrStopped is returned for requests that a stopped informer cannot fulfill.
	ErrStopped = errors.New("the informer has stopped")
	// ErrNotSynced is returned by WaitSynced if the store did not become complete in time. It wraps
	// the context's cause and the last error of a list or watch.
	ErrNotSynced = errors.New("the informer is not synced")
	// ErrVersion is returned by WaitVersion for a resourceVersion that does not
	// compare with the store's.
	ErrVersion = errors.New("the resourceVersion cannot be compared")
	// ErrState is returned by Fill for states that cannot fill the store.
	ErrState = errors.New("the states do not fit the sources")
	// ErrTransform is returned, wrapped in a [QuarantineError], if the transform failed on an
	// object.
	ErrTransform = errors.New("the transform failed")
	// ErrQuarantined is returned by a wait for a version, or for an object, that could not be
	// prepared and is not in the store. Observe was told the reason.
	ErrQuarantined = errors.New("the object is quarantined")
	// ErrDecode is reported, wrapped in a [QuarantineError], if an object could not be decoded.
	ErrDecode = errors.New("the object cannot be decoded")
	// ErrType is returned for an object of another type than the informer's.
	ErrType = indexer.ErrType
)

// undecodable wraps the error of an object that could not be decoded.
func undecodable(err error) error { return fmt.Errorf("%w: %w", ErrDecode, err) }

func cut(text string) string { return fmt.Sprintf("%.*s", object.MaxText, text) }

// QuarantineError reports an object that could not be prepared for the store: decoding or the
// transform failed. An earlier version stays in the store, and is stale. The object is tried again
// with its next event and with each list.
type QuarantineError struct {
	Key indexer.Key
	Err error
}

func (e *QuarantineError) Error() string {
	return fmt.Sprintf("object %.*q is quarantined: %.*v", object.MaxText, e.Key, object.MaxText, e.Err)
}

// Unwrap returns the reason.
func (e *QuarantineError) Unwrap() error { return e.Err }

// TransformStuckError reports a transform that had not returned at the end of a run. The run did
// not wait for it, and its result is dropped.
type TransformStuckError struct {
	Key indexer.Key // of the object in the transform
}

func (e *TransformStuckError) Error() string {
	return fmt.Sprintf("the transform does not return for object %.*q", object.MaxText, e.Key)
}
