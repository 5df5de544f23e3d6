package served

import "errors"

var (
	// ErrNoDiscovery means that a client cannot ask discovery.
	ErrNoDiscovery = errors.New("served: the client cannot ask discovery")
	// ErrNotDiscovery means that an answer is no discovery document, or contradicts
	// another document.
	ErrNotDiscovery = errors.New("served: not what discovery was asked for")
)
