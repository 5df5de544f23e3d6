// Package heapsize estimates how many bytes of the heap some objects take together.
//
// A [Weigher] walks through objects and adds up their blocks of memory: structs behind pointers,
// the arrays of slices, the bytes of strings, maps. A block shared by several objects counts once.
// A weigher does not record every block. It samples blocks by a hash of their addresses, records
// each sampled block once, and scales up the sum. The sampled part shrinks as the weigher records
// more.
//
// # Guarantees
//
//   - A weigher has a few thousand addresses, but no objects: a recorded address keeps nothing
//     alive.
//   - A weigher only reads the objects. Other goroutines must not write into them meanwhile, as
//     with all cached objects.
//   - The estimate is accurate to a few percent with many blocks, and exact with few. A block
//     counts with its size in Go's allocator. Strings within a larger string count as separate
//     blocks.
//   - Memory behind an unsafe.Pointer, a channel, a function or an unexported field does not count:
//     it may belong to a package that writes into it.
//   - A weigher visits at most 131,072 blocks of one object, which takes some milliseconds.
//
// Only one goroutine at a time may use a weigher.
package heapsize
