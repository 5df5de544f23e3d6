package protodecode

import "errors"

var (
	// ErrNotProto means that the type has no generated Unmarshal.
	ErrNotProto = errors.New("the type cannot be decoded from protobuf")
	// ErrTooDeep means that messages are nested deeper than in any real object.
	ErrTooDeep = errors.New("the object is nested too deeply")
	// ErrPanic means that the generated Unmarshal panicked.
	ErrPanic = errors.New("the generated decoder panicked")
)
