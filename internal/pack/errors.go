package pack

import "errors"

var (
	// ErrDamaged means that a blob is not what a Kind has written: its object cannot be read any
	// more.
	ErrDamaged = errors.New("a packed object is damaged")
	// ErrTooLarge means that an object has more bytes than any real one.
	ErrTooLarge = errors.New("the object is too large to be packed")
)
