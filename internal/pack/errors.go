package pack

import "errors"

var (
	// ErrDamaged means that a blob is damaged, so that its object cannot be read.
	ErrDamaged = errors.New("a packed object is damaged")
	// ErrTooLarge means that an object has more than 256 MiB, which no real object has.
	ErrTooLarge = errors.New("the object is too large to pack")
)
