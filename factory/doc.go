// Package factory hands out shared informers of all kinds: one of each for a
// program, however many of its parts ask.
//
// [Factory] is client-go's SharedInformerFactory, with its accessors, over
// this module's informers; [For] is the way to the same informers with types,
// and [Acquire] to further ones that live only while someone uses them.
// [DynamicFactory] and [MetadataFactory] do the same for unstructured objects
// and for metadata alone.
//
// # Guarantees
//
//   - One informer of a type (of a resource, in the dynamic and metadata
//     factories): who asks first makes it, everybody shares it. [For] and the
//     accessors hand out the same one.
//   - An informer that was asked for after Start runs after the next Start, as in
//     client-go. Start may be called any number of times; after Shutdown it does
//     nothing.
//   - Shutdown returns when every informer has ended. It does not end them: the
//     context or channel given to Start does.
//   - An acquired informer runs while there are leases on it. With the last
//     release it stops; with the next acquire it goes on from what it holds, with
//     the handlers that it has.
//   - All methods and functions are safe for any goroutine. Of the user's code,
//     only the constructor given to InformerFor runs under the factory's lock.
package factory
