// Package deltafifo is the queue of an informer, which its users do not need; authors of a sink of
// their own do. It is between the reflectors, which read from an API server, and the process loop,
// which applies the changes to the store.
//
// A [Delta] is one reported change, or a mark in the sequence; a [DeltaFIFO] carries deltas in
// batches, in order. In client-go this is the DeltaFIFO, or today its successor, the RealFIFO.
//
// # Guarantees
//
//   - First in, first out, over all keys. Nothing is merged, dropped or reordered: the deltas
//     of each producer come out in the order it pushed them.
//   - Bounded: a producer waits while the queue holds [New]'s bound of deltas, until there is
//     room or its context ends. The queue takes a batch whole or not at all.
//   - Any number of producers, one consumer. The consumer takes all waiting deltas at once,
//     and no lock is held while it works.
//   - No goroutine of its own; an empty queue keeps next to no memory.
package deltafifo
