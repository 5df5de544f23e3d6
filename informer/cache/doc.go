// Package cache has client-go's tools/cache API over this module's engine. A program that imports
// this package instead gets its informers, stores and queues from this module, without any other
// change.
//
//	import "github.com/tidemark-k8s/tidemark/informer/cache" // instead of k8s.io/client-go/tools/cache
//
// Interfaces and types are client-go's own, under their own names, so that values go back and forth
// between both packages. Package informer makes the informers. This package holds the tools that no
// informer of this module needs: [DeltaFIFO], the controller of [New], reflectors into any store of
// client-go's kind, [NewStore] and [NewIndexer]. Containers without a use here, such as [RealFIFO],
// [ThreadSafeStore] and [NewTTLStore], are client-go's own. [NewReflector] returns a
// [StoreReflector], with the methods of client-go's type under another name.
//
// # Guarantees
//
//   - Every exported name of client-go's package is here; a test compares.
//   - No informer, controller, reflector, indexer or [DeltaFIFO] made here runs client-go's
//     engine. One file and MIGRATION.md list client-go's own containers; a test compares.
//   - Informers and stores keep the guarantees of package informer.
//   - A [DeltaFIFO] hands what is queued to the processing function once, even if that fails or panics. The
//     deltas of a key are popped together, keys in the order of their first delta. The queue is unbounded.
//   - A reflector writes the objects of a list with one Replace, and each later change with one
//     call. A change that the store refuses is reported, and the reflector goes on with the next. If
//     the store ends its goroutine (runtime.Goexit), the goroutine of Run ends.
package cache
