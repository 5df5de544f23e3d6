// Package engine is the untyped core of an informer: reflectors prepare and queue what the sources send, the
// processLoop applies it to the store and logs the changes, and one goroutine per handler delivers them.
//
//	one reflector per source  ->  queue  ->  processLoop  ->  log  ->  one goroutine per handler
//
// Package informer is its only user. It makes the typed view of a [Core] and client-go's, and documents for programs
// what the types and errors of this package mean. The package knows neither view.
package engine
