// Package cache has client-go's tools/cache API, and uses this module's engine. A program that imports it
// instead of client-go's gets its informers, stores and queues from this module, without any other change.
//
//	import "github.com/tidemark-k8s/tidemark/informer/cache" // instead of k8s.io/client-go/tools/cache
//
// Interfaces and types are client-go's own, under the same names, so values can be passed between the
// packages. Package informer makes the informers. This package has the tools that this module's informers do
// not need: [DeltaFIFO], the controller of [New], reflectors into any client-go store, [NewStore] and
// [NewIndexer]. Containers that this module does not use, such as [RealFIFO], [ThreadSafeStore] and
// [NewTTLStore], are client-go's own. [NewReflector] returns a [StoreReflector], which has the methods of
// client-go's Reflector.
//
// # Guarantees
//
//   - Every exported name of client-go's package is here. A test compares the two.
//   - No informer, controller, reflector, indexer or [DeltaFIFO] made here runs client-go's engine. The file
//     theirs.go and docs/migrating.md list client-go's own containers, and tests check the lists.
//   - Informers and stores keep the guarantees of package informer.
//   - A [DeltaFIFO] passes each queued delta to the processing function once, even if the function fails or
//     panics. The deltas of a key are popped together, and keys in the order of their first delta. The queue
//     is unbounded.
//   - A reflector writes the objects of a list with one Replace, and each later change with one call. If the
//     store refuses a change, the reflector reports it and continues with the next. If the store ends its
//     goroutine (runtime.Goexit), the goroutine of Run ends.
package cache
