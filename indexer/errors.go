package indexer

import (
	"errors"
	"fmt"
	"reflect"
)

// The errors of this package, to be told apart with errors.Is.
var (
	// ErrUnknownIndex is returned by look-ups under a name that no index has.
	ErrUnknownIndex = errors.New("no index of this name")
	// ErrIndexExists is returned when an index is added under a taken name.
	ErrIndexExists = errors.New("an index of this name exists already")
	// ErrIndexInvalid is returned for an index without a name, or without
	// either an Append function or ByNamespace.
	ErrIndexInvalid = errors.New("an index needs a name, and an Append function or ByNamespace")
	// ErrType is returned for an object of another type than the one asked for. An
	// index leaves out, with it, an object that it was not declared for.
	ErrType = errors.New("the object is of another type")
	// ErrGoexit is what an index function failed with that ended its goroutine
	// (runtime.Goexit) instead of returning, as t.FailNow of a test does.
	ErrGoexit = errors.New("the function ended its goroutine")
)

// maxText bounds each part of an error text that whoever named an object may
// have made megabytes long.
const maxText = 8192

// IndexError tells that an index function failed on one object. The object is
// stored and readable; it is left out of that index alone, until it changes.
type IndexError struct {
	Index string
	Key   Key
	Err   error
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %q leaves out %.*q: %.*v", e.Index, maxText, e.Key, maxText, e.Err)
}

// Unwrap returns what the index function failed with.
func (e *IndexError) Unwrap() error { return e.Err }

// typeError names the type that was wanted and the one that is there.
func typeError[T any](found any) error {
	return fmt.Errorf("%w: want %v, got %T", ErrType, reflect.TypeFor[T](), found)
}

// keyedTypeError is typeError for the object of a key.
func keyedTypeError[T any](key Key, found any) error {
	return fmt.Errorf("object %.*q: %w", maxText, key, typeError[T](found))
}

func unknownIndex(name string) error { return fmt.Errorf("%w: %q", ErrUnknownIndex, name) }
