// Package informer mirrors the objects of a Kubernetes API server into a store
// and tells handlers what changes: client-go's informers, done anew.
//
// An [Informer] of a Go type is made with [New], or obtained from a factory.
// Its store is read through [Informer.Indexer] and [Informer.Lister]; handlers
// are registered with [Informer.Handle], or [Informer.HandleBatch] for several changes at
// once, or are the body of a loop over [Informer.Changes]; [Informer.Run] does the work
// until its context ends. For programs that are written for client-go there is the same
// thing under client-go's interfaces: [NewSharedIndexInformer].
//
// The path of a change: a reflector, one for each source, lists and watches and
// writes to a bounded queue; the processLoop takes all that is queued, applies
// it to the store in one short section, and appends it to a log; each handler
// has a goroutine of its own that reads the log at its own pace.
//
// # Guarantees
//
//   - The changes that a handler is told are all there were, one at a time, in
//     the order in which the store made them, and the store has made them
//     before. [Latest] delivery merges what a handler has not got round to.
//   - A handler that is slow, stuck or late delays nobody else. What waits for
//     it is kept: without bound for [Every] delivery, see
//     [Registration.Backlog].
//   - A watch event is always applied and told. A relist is told only where it
//     differs: objects whose UID and resourceVersion are those of before keep
//     the stored object.
//   - Deletions that a relist finds out are told first, then additions and
//     updates, in the order of the list; all of it shows in the store at once.
//   - A transform runs exactly once for each object received, with no lock
//     held. An object that it fails on is quarantined: reported, counted, tried
//     again; everything else goes on. A delete is always applied.
//   - A transform or an index function that panics, or ends its goroutine
//     (runtime.Goexit, as t.FailNow of a test does), has failed on that object. An
//     observer may end its goroutine, too. A handler that does is told what follows on
//     another one. In a batch the change counts whose turn it is ([Batch.All]), or else
//     the batch.
//   - A loop over [Informer.Changes] is a handler whose goroutine is the caller's: it
//     is told the initial state first, and Run waits for its body. With Every, what
//     waits for it is bounded by nothing but memory, as for a handler.
//   - Nothing waits without end: Run returns when its context ends, as soon as
//     the handlers have, and does not wait for a transform that is stuck.
//   - What is stored and handed out is shared by everyone, and must never be
//     changed; the informer never does.
//   - Every method is safe for any goroutine, and from within a handler, except
//     that a handler must not wait for its own end.
package informer
