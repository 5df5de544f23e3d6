// Package factory makes shared informers of all kinds: one informer of each kind, however many
// parts of a program ask for it.
//
// [Factory] is client-go's SharedInformerFactory, with its accessors, over this module's
// informers. [For] returns the same informers with types. [Acquire] leases informers of a smaller
// scope, which run only while somebody uses them. [DynamicFactory] and [MetadataFactory] do the
// same by resource, for unstructured objects and for metadata alone. [NewInformerWithOptions] and
// its like make informers that are not shared.
//
// For programs that move from client-go, the packages factory/informers,
// factory/dynamicinformer, factory/metadatainformer and factory/internalinterfaces offer
// client-go's names and result types. Their constructors call those of this package, which return
// concrete types; new code should use this package.
//
// # Guarantees
//
//   - A factory has one informer of a type (of a resource, in the dynamic and metadata
//     factories). The first caller creates it, later callers share it. [For] and the accessors
//     return the same informer.
//   - Shares of the objects are for the kinds that are named ([WithShard]); the informers of all others
//     read everything. The factory keeps no two processes apart, see package shard.
//   - An informer requested after Start runs after the next Start, as in client-go. It runs once,
//     until the context or channel of that Start ends, restarts included. Start may be called any
//     number of times; after Shutdown it does nothing.
//   - An acquired informer runs while there are leases on it, until every context given to Start
//     has ended, or Shutdown is called. It stops with the last release. With the next acquire it
//     continues from its stored objects: a server is asked for the changes since, or for all
//     objects if it no longer has those changes. The factory drops the informer after 5 minutes
//     without use, or after the time set by [WithRetention].
//   - An informer that is both requested and acquired runs as long as one of the two rules says so,
//     without a break. If it was requested while, or after, it ran for a lease, it runs on until
//     the context of the latest Start ends, and the next Start runs it as any other.
//   - The handlers added through a lease end with the lease, and no others do.
//   - Shutdown returns when every informer has ended. It ends informers that are only leased; the
//     others end with the context or channel given to Start. Once it was called, an informer that does not run
//     refuses handlers ([informer.ErrStopped]): no run follows.
//   - An informer that does not run has no goroutine. A running one has no more goroutines than
//     it has without a factory.
//   - All methods and functions are safe for concurrent use. No code of the user's runs under the
//     factory's lock: constructors and loggers may call the factory.
package factory
