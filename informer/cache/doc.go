// Package cache is client-go's tools/cache over this module's engine: a program
// that imports it instead needs no other change to have its informers, stores
// and queues made here.
//
//	import "github.com/tidemark-k8s/tidemark/informer/cache" // instead of k8s.io/client-go/tools/cache
//
// Interfaces and types are client-go's own, under their own names, so that
// values go back and forth between both packages. Informers are made by package
// informer. The tools that no informer of this module needs are written here:
// [DeltaFIFO], the controller of [New], reflectors into any store of
// client-go's kind, [NewStore] and [NewIndexer]. The containers that nothing here is
// made of, such as [RealFIFO], [ThreadSafeStore] and [NewTTLStore], are client-go's own.
// [NewReflector] returns a [StoreReflector], which has client-go's methods under
// another name.
//
// # Guarantees
//
//   - Every exported name of client-go's package is here; a test compares.
//   - No informer, controller, reflector, indexer or [DeltaFIFO] that is made here runs
//     client-go's engine. The containers that are client-go's own stand in one file
//     and in MIGRATION.md; a test compares.
//   - Informers and stores promise what package informer says of them.
//   - A [DeltaFIFO] loses no delta, whatever processing does: the deltas of a key
//     are popped together, keys in the order of their first delta. Nothing bounds
//     how many wait.
//   - A reflector writes a full state with one Replace, and each later change with
//     one call. A change that the store refuses is reported, and the rest goes on.
package cache
