// Package internalinterfaces is client-go's informers/internalinterfaces by name. A program that
// replaces all its imports of client-go's informer packages finds this one too.
//
//	import "github.com/tidemark-k8s/tidemark/factory/internalinterfaces" // instead of k8s.io/client-go/informers/internalinterfaces
//
// A program may also keep client-go's package: it runs no engine, and the types are the same.
//
// # Guarantees
//
//   - Every exported name of client-go's package is here, as an alias of its type.
package internalinterfaces
