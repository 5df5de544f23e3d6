package jsondecode

import "errors"

var (
	// ErrMalformed says that a body is no list, or no stream of events: either
	// its bytes are no JSON, or what they say has another shape.
	ErrMalformed = errors.New("malformed JSON")
	// ErrTooLarge says that an item, or an event, is larger than any that is
	// decoded.
	ErrTooLarge = errors.New("JSON value too large")
)
