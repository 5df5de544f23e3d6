// Package internalinterfaces has the names of client-go's informers/internalinterfaces, so that a program can
// replace all its imports of client-go's informer packages.
//
//	import "github.com/tidemark-k8s/tidemark/factory/internalinterfaces" // instead of k8s.io/client-go/informers/internalinterfaces
//
// A program may also keep client-go's package, which has the same types and runs no engine.
//
// # Guarantees
//
//   - Every exported name of client-go's package is here, as an alias of its type.
package internalinterfaces
