package factory

import "errors"

// The errors of this package. Compare them with errors.Is.
var (
	// ErrUnknownKind is returned for a type or resource that is neither built in nor registered
	// with [Register].
	ErrUnknownKind = errors.New("the factory does not know the kind")
	// ErrRegistered is returned by [Register] if the factory already knows the type or the
	// resource.
	ErrRegistered = errors.New("the kind is already registered")
	// ErrResource is returned by [Register] for a resource without a name, a version or a source.
	ErrResource = errors.New("a resource needs a name, a version and a source")
	// ErrForeign is returned by [For] and [Acquire] if a constructor given to [Factory.InformerFor] or
	// [GeneratedFactory.InformerFor] made an informer of another module.
	ErrForeign = errors.New("the caller's constructor made an informer of another module")
	// ErrShutdown is returned by [Acquire] after [Factory.Shutdown], and by [For] for an informer that was
	// not started before it. A later Start logs it.
	ErrShutdown = errors.New("the factory has been shut down")
	// ErrScope is returned for an invalid scope: a namespace that is empty or given twice, namespaces of a
	// cluster-scoped kind, another namespace than that of a factory of one namespace, or an invalid selector.
	ErrScope = errors.New("the scope is not valid")
)
