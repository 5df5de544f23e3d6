// Package engine is the untyped core of an informer. One reflector for each source prepares and queues what
// the source sends. The processLoop applies it to the store, and logs the changes. One goroutine for each
// handler delivers them.
//
//	one reflector per source  ->  queue  ->  processLoop  ->  log  ->  one goroutine per handler
//
// Only package informer uses this package. It presents a [Core] as a typed informer and as client-go's, and
// documents the types and errors for programs. Package engine knows neither view.
package engine
