// Package deltafifo is the queue between those who read from an API server and
// the one who applies what they read.
//
// A [Delta] is one reported change, or a mark in the flow; a [Queue] carries
// deltas in batches, in order. In client-go this is the DeltaFIFO, or today
// its successor, the RealFIFO.
//
// # Guarantees
//
//   - First in, first out, over all keys. Nothing is merged, dropped or
//     reordered: each producer's deltas come out in the order it pushed them.
//   - Bounded: a producer waits while [New]'s bound of deltas wait, until there
//     is room or its context ends. A batch is taken whole or not at all.
//   - Any number of producers, one consumer. The consumer takes all there is
//     at once, and no lock is held while it works.
//   - No goroutine of its own; an empty queue keeps next to no memory.
package deltafifo
