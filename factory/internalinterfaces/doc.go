// Package internalinterfaces is client-go's informers/internalinterfaces by name, so that
// a program whose imports are all changed has this one too.
//
//	import "github.com/tidemark-k8s/tidemark/factory/internalinterfaces" // instead of k8s.io/client-go/informers/internalinterfaces
//
// Nothing of client-go's package runs its engine, so that a program may as well keep it:
// both are the same types.
//
// # Guarantees
//
//   - Every exported name of client-go's package is here, as an alias of its type.
package internalinterfaces
