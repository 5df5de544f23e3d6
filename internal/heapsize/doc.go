// Package heapsize estimates how many bytes of the heap some objects take together.
//
// A [Weigher] walks through objects and adds up their blocks of memory: structs behind pointers,
// the arrays of slices, the bytes of strings, maps. A block shared by several objects counts
// once. A weigher does not record each block: it samples the blocks by a hash of their addresses,
// records those once each, and scales the sum up. The more it has recorded, the smaller is the
// sampled part.
//
// # Guarantees
//
//   - A weigher holds some thousand addresses, and no object: a recorded address keeps nothing
//     alive.
//   - A weigher reads the objects and writes nothing. No goroutine may write into them
//     meanwhile, as holds for all cached objects.
//   - The estimate is good to some percent with many blocks, and exact with few. A block counts
//     with its size in Go's allocator. Strings within one larger text count as separate blocks.
//   - Memory behind an unsafe.Pointer, a channel, a function or an unexported field does not count:
//     it may belong to a package that writes into it.
//   - A weigher visits at most 131,072 blocks of one object, which takes some milliseconds.
//
// Only one goroutine at a time may use a weigher.
package heapsize
