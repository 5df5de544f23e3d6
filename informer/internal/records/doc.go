// Package records holds what an informer remembers beside its store: the identities that a transform has
// changed in objects, the objects that could not be prepared, the versions that the sources have reached,
// and counts.
//
// It takes no part in what happens: the processLoop of package informer says what it has found and done.
package records
