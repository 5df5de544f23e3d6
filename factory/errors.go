package factory

import "errors"

// The errors of this package, to be told apart with errors.Is.
var (
	// ErrUnknownKind is returned for a type or resource that is neither built in
	// nor registered with [Register].
	ErrUnknownKind = errors.New("the kind is not known to the factory")
	// ErrRegistered is returned by [Register] for a type or resource that the
	// factory knows already.
	ErrRegistered = errors.New("the kind is registered already")
	// ErrResource is returned by [Register] for a resource that lacks its name,
	// its version or its source.
	ErrResource = errors.New("a resource needs a name, a version and a source")
	// ErrForeign is returned by [For], [ListerFor] and [Acquire] where a caller's
	// constructor, given to [Factory.InformerFor] or [GeneratedFactory.InformerFor],
	// made an informer of the type that is not of this module.
	ErrForeign = errors.New("the informer of the type was made by the caller's constructor")
	// ErrShutdown is returned by [Acquire] once [Factory.Shutdown] has been
	// called, and by [For] and [ListerFor] for an informer that had not been started
	// then. A Start that comes later logs it.
	ErrShutdown = errors.New("the factory has been shut down")
	// ErrNoInformer is returned by [StopInformer] and [RestartInformer] where the factory
	// has no informer of the type and the scope.
	ErrNoInformer = errors.New("the factory has no such informer")
	// ErrScope is returned by [Acquire] for a scope that cannot be: a namespace
	// given twice, namespaces of a cluster-scoped kind, one that is not the factory's where
	// that has only one, a selector that does not parse.
	ErrScope = errors.New("the scope is not valid")
)
