package indexer

import (
	"errors"
	"fmt"
	"reflect"
)

// The errors of this package; test for them with errors.Is.
var (
	// ErrUnknownIndex means that an index does not exist.
	ErrUnknownIndex = errors.New("no index with this name")
	// ErrIndexExists means that an index has a name that is already in use.
	ErrIndexExists = errors.New("an index with this name already exists")
	// ErrIndexInvalid means that an index lacks a name, or lacks both an Append function and
	// ByNamespace.
	ErrIndexInvalid = errors.New("an index needs a name, and either an Append function or ByNamespace")
	// ErrType means that an object is not of the requested type. An index also leaves out objects
	// of other types with this error.
	ErrType = errors.New("the object has another type")
	// ErrExited means that a callback ended its goroutine (runtime.Goexit) instead of returning, as
	// a test's t.FailNow does.
	ErrExited = errors.New("a function ended its goroutine")
)

// maxText bounds each part of an error text, in characters, because names and values may be
// megabytes long.
const maxText = 8192

// IndexError reports that an index function failed on an object. The object is stored and readable.
// Only that index leaves it out, until its next version. If the error is [ErrExited], the object
// was not stored.
type IndexError struct {
	Index string
	Key   Key
	Err   error
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %q leaves out %.*q: %.*v", e.Index, maxText, e.Key, maxText, e.Err)
}

// Unwrap returns the index function's error or panic.
func (e *IndexError) Unwrap() error { return e.Err }

// typeError names the wanted type and the type found.
func typeError[T any](found any) error {
	return fmt.Errorf("%w: want %v, got %T", ErrType, reflect.TypeFor[T](), found)
}

// keyedTypeError is typeError with the object's key.
func keyedTypeError[T any](key Key, found any) error {
	return fmt.Errorf("object %.*q: %w", maxText, key, typeError[T](found))
}

func unknownIndex(name string) error { return fmt.Errorf("%w: %q", ErrUnknownIndex, name) }
