package served

import "errors"

var (
	// ErrNoDiscovery says that a client cannot ask discovery.
	ErrNoDiscovery = errors.New("served: the client cannot ask discovery")
	// ErrNotDiscovery says that an answer is no document of discovery, or contradicts another one.
	ErrNotDiscovery = errors.New("served: not what discovery was asked for")
	// ErrNotDefinitions says that an answer is no list of definitions.
	ErrNotDefinitions = errors.New("served: not a list of definitions")
)
