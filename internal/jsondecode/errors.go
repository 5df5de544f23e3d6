package jsondecode

import "errors"

var (
	// ErrMalformed means that a body is not JSON, or is neither a list nor a stream of events.
	ErrMalformed = errors.New("malformed JSON")
	// ErrTooLarge means that an item or event exceeds the limit.
	ErrTooLarge = errors.New("JSON value too large")
)
