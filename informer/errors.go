package informer

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// The errors of this package; test for them with errors.Is.
var (
	// ErrNoSource is returned if an informer was made without a source, or without a client.
	ErrNoSource = errors.New("the informer has no source")
	// ErrNoHandler is returned for a nil handler, and for one that is a nil function or has none.
	ErrNoHandler = errors.New("the handler is nil")
	// ErrNegative is returned for an option out of range: a negative period or bound, an empty batch, an
	// unknown [Delivery]. The error names the option and its value.
	ErrNegative = errors.New("out of range")
	// ErrRunning is returned by a second Run, and by methods that must be called before Run.
	ErrRunning = errors.New("the informer is running")
	// ErrStopped is returned by methods that need an informer that has not stopped.
	ErrStopped = errors.New("the informer has stopped")
	// ErrNotSynced is returned by waits whose context ends before the store is complete. The error also
	// wraps the context's cause and the last error of a source.
	ErrNotSynced = errors.New("the informer is not synced")
	// ErrVersion is returned by waits for a resourceVersion that cannot be compared with the store's:
	// it is no positive number, or the server's history has gone back.
	ErrVersion = errors.New("the resourceVersion cannot be compared")
	// ErrTransform is reported, wrapped in a [QuarantineError], if the transform failed on an
	// object.
	ErrTransform = errors.New("the transform failed")
	// ErrQuarantined is returned by WaitFor for an object that is quarantined: the store does not
	// hold it. Observe got the [QuarantineError] with the reason.
	ErrQuarantined = errors.New("the object is quarantined")
	// ErrDecode is reported, wrapped in a [QuarantineError], if an object could not be decoded.
	ErrDecode = errors.New("the object cannot be decoded")
	// ErrExited is returned by Run and by waits if a function, a handler for instance, has ended a goroutine of the
	// run (runtime.Goexit, as t.FailNow of a test does).
	ErrExited = indexer.ErrExited
	// ErrSharded is returned by Run if an informer cannot read a share: it has several sources, or its source is
	// limited to one namespace and the share is one of namespaces.
	ErrSharded = errors.New("the informer cannot read a share")
	// ErrType is returned for an object that is not of the informer's type.
	ErrType = indexer.ErrType
)

// The reasons of waits that end in vain.
var (
	errNewHistory = fmt.Errorf("%w: the server's history has gone back", ErrVersion)
	errNotMade    = errors.New("a source has not been made")
	errNotWatched = errors.New("a source is not watched")
	errNewest     = errors.New("the newest version is not known")
	errNoAnswer   = errors.New("the source has not answered in time")
	errSetBack    = errors.New("it is older than the store's")
)

// The reasons of a [StorageError]: those for which an object is pinned, and that a packed one is lost.
var (
	errUnpackable   = errors.New("it cannot be decoded any more")
	errNotPacked    = errors.New("it is not of the informer's type, or that is an interface")
	errTypePanicked = errors.New("a function of the type has panicked")
)

// outOfRange returns an ErrNegative with the option and its value.
func outOfRange(option string, value any) error {
	return fmt.Errorf("%s is %v: %w", option, value, ErrNegative)
}

// undecodable wraps the error of an object that could not be decoded.
func undecodable(err error) error { return fmt.Errorf("%w: %w", ErrDecode, err) }

// textError is what is kept of an error: its text.
type textError string

func (e textError) Error() string { return string(e) }

// cut shortens a text to object.MaxText characters.
func cut(text string) string { return fmt.Sprintf("%.*s", object.MaxText, text) }

// QuarantineError reports that one object could not be prepared for the store: it could not be
// decoded, or the transform failed. A version that was stored before stays and is stale. The
// informer tries again with the object's next event and with each list.
type QuarantineError struct {
	Key indexer.Key
	Err error
}

func (e *QuarantineError) Error() string {
	return fmt.Sprintf("object %.*q is quarantined: %.*v", object.MaxText, e.Key, object.MaxText, e.Err)
}

// Unwrap returns the reason.
func (e *QuarantineError) Unwrap() error { return e.Err }
