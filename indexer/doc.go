// Package indexer is a thread-safe, indexed store of objects, built for many readers.
//
// A [Writer] and an [Indexer] are the two sides of one store: the owner of the Writer changes
// it, everybody else reads through the Indexer. Objects are found by [Key] (no string is
// built), under the values of named indexes ([Index]), by label requirements
// ([Indexer.Select]), by queries of all of these ([Indexer.Find]), or all at once. A list is a [Snapshot]: it costs nothing to take, never
// changes, and is ranged over without a lock.
//
// The store is untyped: a Writer takes objects of any type. [View] gives typed reads, at the
// price of a type assertion for each object.
//
// In client-go this is cache.Indexer and cache.ThreadSafeStore.
//
// # Guarantees
//
//   - Get takes no lock and never waits for a writer. It allocates nothing, and neither does ranging
//     over a list, unless the store has a codec ([Options].Codec): the codec may decode each object
//     that is read.
//   - Taking a Snapshot copies nothing, and a Snapshot never changes. The writer pays for it:
//     it copies each chunk of 256 objects once, before it next changes it.
//   - Taking a list may wait for the write section in progress. Sections are short: a
//     replacement with more than some thousand changes is built aside and swapped in.
//   - Each list shows the store at one moment. Two calls may see two moments.
//   - Find shows the store at one moment, too, whatever its queries and however the lists are
//     compared. It holds the lock for a short list at the most, or to take snapshots, and never
//     calls a program's Selector under it.
//   - The order within a list is not promised.
//   - Index functions run once for each version of an object. If one panics on an object, the
//     object is missing from that index, the failure is reported ([Options].Report), and
//     nothing else is affected.
//   - Objects are shared by everyone and must never be changed; the indexer never does.
package indexer
