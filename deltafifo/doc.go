// Package deltafifo is an informer's queue, for authors of their own sinks. It is between the
// reflectors, which read from an API server, and the process loop, which applies the changes to the
// store.
//
// A [Delta] is a reported change, or a mark in the sequence. A [DeltaFIFO] carries deltas in
// batches, in order. In client-go, this is the DeltaFIFO, or its successor, the RealFIFO.
//
// # Guarantees
//
//   - First in, first out, across all keys. The queue does not merge, drop or reorder deltas: those
//     of each producer come out in the order in which it pushed them.
//   - Bounded: a producer waits while the queue has 4,096 deltas, until there is room or its context
//     ends. The queue takes a whole batch or nothing.
//   - Any number of producers, one consumer. The consumer takes all waiting deltas at once, and
//     works without a lock.
//   - No goroutine of its own. An empty queue keeps almost no memory.
package deltafifo
