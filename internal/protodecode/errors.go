package protodecode

import "errors"

var (
	// ErrNotProto says that a type has no generated Unmarshal.
	ErrNotProto = errors.New("the type cannot be read from protobuf")
	// ErrTooDeep says that messages are nested deeper than any real object.
	ErrTooDeep = errors.New("the object is nested too deeply")
	// ErrPanic says that the generated Unmarshal panicked.
	ErrPanic = errors.New("the generated decoder panicked")
)
