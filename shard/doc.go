// Package shard divides the objects of a kind among replicas:
//
//	share, err := shard.Nth(shard.ByUID, 0, 3) // the first of three
//
// A [Set] is a set of ranges of the ring. The ring is the 2^64 hashes of a [Field] of the objects:
// the UID or the namespace. The set that an informer reads is its share. It comes from an
// [Assignment], such as [Static]. Objects outside the share are foreign, and never reach the store.
//
// A server with the feature gate ShardedListAndWatch sends only the objects that [Set.Selector] names. With
// any other server, the informer drops foreign objects.
//
// Sharding is static: tidemark does not coordinate replicas. Give each replica its own index, and stop all
// of them before their number changes. Shards are experimental: the server's selector is alpha, and this
// package may change with it.
//
// # Guarantees
//
//   - A Set never changes, and its methods are safe for any goroutine. [Set.Has] allocates nothing.
//   - Hashes are the server's: FNV-1a with 64 bits. They are the same in every process and every version.
//   - The sets of [Nth] with one total have no hash in common, and together are the whole ring.
//   - The selector of an empty set never means everything.
//   - Untrusted text allocates memory only in proportion to its length.
package shard
