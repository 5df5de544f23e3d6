// Package factory hands out shared informers of all kinds: one of each for a
// program, however many of its parts ask.
//
// [Factory] is client-go's SharedInformerFactory, with its accessors, over
// this module's informers; [For] is the way to the same informers with types,
// and [Acquire] to further ones that live only while someone uses them.
// [DynamicFactory] and [MetadataFactory] do the same for unstructured objects
// and for metadata alone, by resource. [NewInformerWithOptions] and its like make
// informers that are not shared.
//
// Programs that move from client-go find its names, and its result types, in the
// packages below: factory/informers, factory/dynamicinformer, factory/metadatainformer
// and factory/internalinterfaces. Their constructors call those of this package, which
// return concrete types and are the ones to use in new code.
//
// # Guarantees
//
//   - One informer of a type (of a resource, in the dynamic and metadata
//     factories): who asks first makes it, everybody shares it. [For] and the
//     accessors hand out the same one.
//   - An informer that was asked for after Start runs after the next Start, as in
//     client-go. It runs once, until the context or channel of that Start ends. Start
//     may be called any number of times; after Shutdown it does nothing.
//   - An acquired informer runs while there are leases on it, until every context that
//     Start was given has ended, or Shutdown. With the last release it stops; with the
//     next acquire it goes on from what it holds: a server is asked for what has changed
//     since, or else for all that there is. The factory drops it when it was not used for
//     5 minutes, or for the time of [WithRetention]. An informer that was asked for by
//     other means as well runs on when it is released, and is never dropped.
//   - The handlers that were added through a lease end with it, and no others.
//   - Shutdown returns when every informer has ended. It ends those that are leased
//     only; the others end with the context or channel that Start was given.
//   - An informer that does not run has no goroutine, and one that does has no more
//     than without a factory.
//   - All methods and functions are safe for any goroutine. Of the user's code,
//     only the constructor given to InformerFor runs under the factory's lock.
package factory
