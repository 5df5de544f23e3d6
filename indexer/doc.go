// Package indexer is a thread-safe indexed store of objects, made to be read.
//
// A [Writer] and an [Indexer] are the two sides of one store: whoever holds
// the Writer changes it, everybody else gets the Indexer. Objects are found by
// [Key] (no string is built), under the values of named indexes ([Index]), by
// label requirements ([Indexer.Select]), or all at once; a list is a
// [Snapshot], frozen and free, to be ranged over without a lock.
//
// The store is untyped: a Writer takes objects of any type. [View] reads them as
// objects of one, for a type assertion each.
//
// In client-go this is cache.Indexer and cache.ThreadSafeStore.
//
// # Guarantees
//
//   - Get takes no lock, allocates nothing and never waits for a writer. Ranging
//     over a list allocates nothing either.
//   - Taking a Snapshot copies nothing; it never changes afterwards. The writer
//     pays for it: it copies what it changes next, once, in chunks of 256.
//   - Taking a list may wait for the write section in progress. Sections are
//     short: a full state of more than some thousand changes is built aside,
//     and swapped in.
//   - Each list is one moment of the store. Two calls may see two moments.
//   - The order within a list is not promised.
//   - Index functions run once for each version of an object. One that panics
//     on an object keeps it out of that index, reports it ([Options].Report),
//     and harms nothing else.
//   - Objects are shared by everyone and must never be changed; the indexer
//     never does.
package indexer
