// Package heapsize estimates how many bytes of the heap some objects take together.
//
// A [Meter] walks through objects and adds up the blocks of memory that they consist of:
// structs that are pointed at, the arrays of slices, the bytes of strings, maps. Objects
// share blocks, which count once. To know them again without a note of each, only blocks
// whose addresses have a certain hash are counted, once each however often they are met,
// and stand for the others: the part of them gets smaller as more are noted.
//
// # Guarantees
//
//   - A meter holds some thousand notes, and no object: an address that it has noted keeps
//     nothing alive.
//   - It reads the objects, and writes nothing: they must not be written to meanwhile, as goes
//     for all that is cached.
//   - The estimate is within some percent where there are many blocks, and exact where there are
//     few. A block counts with what Go's allocator takes for it. Strings that lie within one larger
//     text count as if each had been allocated by itself.
//   - What hides behind an unsafe.Pointer, a channel or a function does not count, nor what
//     fields point at that are not exported: it may be a package's own, and be written to.
//   - Of one object at most 131,072 blocks are looked at, so that it takes some milliseconds at most.
//
// A meter is used by one goroutine at a time.
package heapsize
