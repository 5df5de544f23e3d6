// Package indexer is a thread-safe, indexed store of objects for many readers:
//
//	obj, ok := pods.Get(indexer.Key{Namespace: "shop", Name: "web"})
//	for pod := range pods.By("node", "n1") {
//		...
//	}
//	keys, err := pods.FindKeys(indexer.Query{Namespace: "shop", Fields: map[string]string{"node": "n1"}})
//
// A [Writer] and an [Indexer] are the two sides of a store. The store's owner has the Writer and changes
// objects. All others read through the Indexer: by [Key] (without building a string), by the values of
// named indexes ([Index]), by labels ([Indexer.Select]), by queries that combine these
// ([Indexer.Find]), or all objects at once. A list is a [Snapshot]: taking one costs nothing, it never
// changes, and ranging over it needs no lock.
//
// The store is untyped: a Writer takes objects of any type. [View] gives typed reads, which cost a type
// assertion for each object.
//
// In client-go, this is cache.Indexer and cache.ThreadSafeStore.
//
// # Guarantees
//
//   - Get takes no lock and never waits for a writer. Get and ranging over a list allocate nothing. If the
//     store has a codec ([Options].Codec), they may decode each object that they read.
//   - Taking a Snapshot copies nothing, and a Snapshot never changes. The writer pays instead: it copies
//     each shared chunk of 256 objects once, before the next change in it.
//   - Taking a list may wait for the write section in progress. Sections are short: a replacement with more
//     than a few thousand changes is built aside and swapped in.
//   - Each list shows the store at one moment. Two calls may show two moments.
//   - Find shows the store at one moment too, for any number of queries. It holds the lock only to read a
//     short list or to take snapshots, and calls a program's Selector without the lock.
//   - Lists are in no particular order.
//   - Index functions run once for each version of an object. If one panics on an object, that index leaves
//     out the object, and [Options].Report gets the error. Nothing else changes.
//   - Programs share the objects and must never change them. The indexer never does.
package indexer
