package jsondecode

import "errors"

var (
	// ErrMalformed means that a body is not a list or a stream of events: it is not JSON, or has
	// another shape.
	ErrMalformed = errors.New("malformed JSON")
	// ErrTooLarge means that an item or an event is above the limit.
	ErrTooLarge = errors.New("JSON value too large")
)
