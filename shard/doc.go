// Package shard says which part of a kind's objects an informer reads. It keeps no two processes apart:
// whoever starts N replicas gives them disjoint shares, and stops all of them before N changes.
//
// A [Set] holds ranges of the ring, which is the 2^64 hashes of a [Field] of the objects: of the uid, or of
// the namespace. The set that an informer reads is its share, and it comes from an [Assignment]: [Static]
// is a fixed one. Objects outside of the share are foreign; they never reach the store.
//
//	share, err := shard.Nth(shard.ByUID, 0, 3) // the first of three
//
// A server with the feature gate ShardedListAndWatch sends the objects of a share alone, which
// [Set.Selector] names. On any other server the informer drops the foreign ones itself.
//
// # Guarantees
//
//   - A Set never changes, and its methods are safe for any goroutine. [Set.Has] allocates nothing.
//   - Hashes are the server's: FNV-1a with 64 bits. They are the same in every process and every version.
//   - The sets of [Nth] with one total have no hash in common, and together are the whole ring.
//   - No selector of an empty set means everything.
//   - What text and numbers say bounds no allocation: only their own length does.
package shard
