package indexer

import (
	"errors"
	"fmt"
	"reflect"
)

// The errors of this package; test for them with errors.Is.
var (
	// ErrUnknownIndex is returned by look-ups in an index that does not exist.
	ErrUnknownIndex = errors.New("no index of this name")
	// ErrIndexExists is returned when an index is added under a name already in use.
	ErrIndexExists = errors.New("an index of this name exists already")
	// ErrIndexInvalid is returned for an index without a name, or without either an Append function or
	// ByNamespace.
	ErrIndexInvalid = errors.New("an index needs a name, and either an Append function or ByNamespace")
	// ErrType is returned for an object of another type than the caller asked for. An index
	// also leaves out, with this error, objects of a type it was not declared for.
	ErrType = errors.New("the object is of another type")
	// ErrExited reports a user's function that ended its goroutine (runtime.Goexit) instead of
	// returning, as t.FailNow of a test does.
	ErrExited = errors.New("a function ended its goroutine")
)

// maxText bounds each part of an error text, in characters: a user who names objects or values can
// make them megabytes long.
const maxText = 8192

// IndexError reports that an index function failed on one object. The object is stored and
// readable; it is missing from that index alone, until its next version. If the error is
// [ErrExited], the object was not stored.
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
