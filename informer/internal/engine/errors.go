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
	ErrOutOfRange  = errors.New("out of range")
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

// The reasons why waits fail.
var (
	errNewHistory = fmt.Errorf("%w: the server's history has gone back", ErrVersion)
	errNotMade    = errors.New("a source is not ready")
	errNotWatched = errors.New("a source is not watched")
	errNewest     = errors.New("the newest version is not known")
	errNoAnswer   = errors.New("the source did not answer in time")
	errSetBack    = errors.New("the answer is older than the store")
)

// The reasons of a [StorageError]: why an object is pinned, or why a packed object is lost.
var (
	ErrUnpackable   = errors.New("it can no longer be decoded")
	ErrNotPacked    = errors.New("it is not of the informer's type, or the type is an interface")
	errTypePanicked = errors.New("a method of the type panicked")
)

// OutOfRange returns an ErrOutOfRange with the name of the option and its value.
func OutOfRange(option string, value any) error {
	return fmt.Errorf("%s is %v: %w", option, value, ErrOutOfRange)
}

// undecodable wraps the error of an object that could not be decoded.
func undecodable(err error) error { return fmt.Errorf("%w: %w", ErrDecode, err) }

// textError is the text that is kept of an error.
type textError string

func (e textError) Error() string { return string(e) }

// cut shortens a text to object.MaxText characters.
func cut(text string) string { return fmt.Sprintf("%.*s", object.MaxText, text) }

// QuarantineError reports that an object could not be decoded or transformed. The store keeps an earlier
// version, which is then stale. The informer tries again with the object's next event and with each list.
type QuarantineError struct {
	Key indexer.Key
	Err error
}

func (e *QuarantineError) Error() string {
	return fmt.Sprintf("object %.*q is quarantined: %.*v", object.MaxText, e.Key, object.MaxText, e.Err)
}

// Unwrap returns the reason.
func (e *QuarantineError) Unwrap() error { return e.Err }

// Event is an observable fact about an informer, passed to [Options].Observe. It is an event of package
// reflector, or one of *[QuarantineError], *[StorageError], *[indexer.IndexError], [HandlerPanicked] and
// [Ghost].
type Event any

// HandlerPanicked reports that a handler panicked on a change. The change is not delivered again.
type HandlerPanicked struct {
	Handler string
	Value   any
}

// Ghost reports an object that the store showed after a write of this program, and that the watch never
// delivered. The object was deleted or changed in a way that the source does not read, or etcd was restored.
// The store now shows what the watch delivered.
type Ghost struct {
	Key     indexer.Key // the server's
	Version string      // the version that was shown
}
