package engine

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// The errors that package informer exports and documents.
var (
	ErrNoSource    = errors.New("the informer has no source")
	ErrNoHandler   = errors.New("the handler is nil")
	ErrNegative    = errors.New("out of range")
	ErrRunning     = errors.New("the informer is running")
	ErrStopped     = errors.New("the informer has stopped")
	ErrNotSynced   = errors.New("the informer is not synced")
	ErrVersion     = errors.New("the resourceVersion cannot be compared")
	ErrTransform   = errors.New("the transform failed")
	ErrQuarantined = errors.New("the object is quarantined")
	ErrDecode      = errors.New("the object cannot be decoded")
	ErrExited      = indexer.ErrExited
	ErrSharded     = errors.New("the informer cannot read a share")
	ErrType        = indexer.ErrType
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
	ErrUnpackable   = errors.New("it cannot be decoded any more")
	ErrNotPacked    = errors.New("it is not of the informer's type, or that is an interface")
	errTypePanicked = errors.New("a function of the type has panicked")
)

// OutOfRange returns an ErrNegative with the option and its value.
func OutOfRange(option string, value any) error {
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

// Event is one observable fact about an informer, passed to [Options].Observe. It is an event of
// the reflector, or of this package: *[QuarantineError], *[StorageError],
// *[indexer.IndexError], [HandlerPanicked], [Ghost].
type Event any

// HandlerPanicked reports that a handler panicked on a change. The change is not delivered again.
type HandlerPanicked struct {
	Handler string
	Value   any
}

// Ghost reports an object that the store has shown as a write of this program had returned it, and that
// the watch has passed without bringing it: the object was deleted or changed in a way that the source does
// not read, or etcd was restored. The store shows what the watch has brought.
type Ghost struct {
	Key     indexer.Key // the server's
	Version string      // as it was shown
}
