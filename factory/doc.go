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
//   - An informer runs once. One that was requested runs from the next Start on, as in client-go, until the
//     context or channel of that Start ends. Then it stays, stopped, with its objects. Start may be called any
//     number of times; after Shutdown it does nothing.
//   - An acquired informer runs while there are leases on it, until the context of its Start ends, or Shutdown is
//     called. Its Start is the latest whose context lives when the informer begins. With the last release it stops,
//     and the factory drops it. The next Acquire makes a new one, which does not wait for the old one to stop.
//   - An informer that is both requested and acquired ends with the context of its Start, and no release ends it.
//   - Acquire never returns an informer that has stopped. A request returns one until Start is called again, with a
//     context that has not ended; then the next request makes a new one.
//   - The handlers added through a lease end with the lease, and no others do.
//   - Shutdown returns when every informer has ended, those that the factory has dropped included. It ends informers
//     that are only leased; the others end with the context or channel given to Start.
//   - An informer that does not run has no goroutine. A running one has the goroutine that waits for its Run, and no
//     more than it has without a factory.
//   - All methods and functions are safe for concurrent use. No code of the user's runs under the
//     factory's lock: constructors and loggers may call the factory.
package factory
