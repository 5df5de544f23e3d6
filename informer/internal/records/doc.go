// Package records keeps an informer's records outside of its store: the server's identities of objects in
// which the transform has changed them, the keys of objects that could not be prepared, the versions that the
// sources have reached, and counts.
//
// It takes no part in what happens: the processLoop of package informer says what it has found and done.
package records
