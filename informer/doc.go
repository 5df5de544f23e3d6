// Package informer mirrors the objects of a Kubernetes API server into a local store and tells
// handlers about each change. It does the work of client-go's informers.
//
// [New] makes an [Informer] of a Go type; a factory hands out shared ones. Programs read its store
// through [Informer.Indexer] and [Informer.Lister]. They follow changes with [Informer.Handle],
// with [Informer.HandleBatch] (several changes a call), or in a loop over [Informer.Changes].
// [Informer.Run] does the work until its context ends. Programs written for client-go get the same
// informer under client-go's interfaces from [NewSharedIndexInformer].
//
// The path of a change: one reflector for each source lists and watches, and writes to a bounded
// queue. The processLoop takes everything queued, applies it to the store in one short section, and
// appends it to a log. Each handler reads the log on its own goroutine, at its own pace.
//
// # Guarantees
//
//   - A handler is told every change, one at a time, in the order in which the store made
//     them, and only after the store made them. [Latest] delivery merges the changes that
//     a handler has not got round to.
//   - A handler that is slow, stuck or late delays nobody else. Its undelivered events are
//     kept, without bound for [Every] delivery, see [Registration.Backlog].
//   - A watch event is always applied and told. A relist is told only where it differs:
//     an object with the same UID and resourceVersion as before keeps the stored object.
//   - Deletions found by a relist are told first, then additions and updates in the order
//     of the list. The whole relist shows in the store at once.
//   - A transform runs exactly once for each object received, with no lock held. An object
//     whose transform fails is quarantined: reported, counted, tried again. Everything else
//     goes on. A delete is always applied.
//   - A transform or an index function that panics, or ends its goroutine (runtime.Goexit,
//     as t.FailNow of a test does), has failed on that object. An observer may end its
//     goroutine, too. If a handler does, it is told the following changes on another
//     goroutine. In a batch, the current change of [Batch.All] counts as failed, or else
//     the whole batch.
//   - A loop over [Informer.Changes] is a handler on the caller's goroutine. It is told the
//     initial state first, and Run waits for its body. With Every, only memory bounds its
//     undelivered events, as for any handler.
//   - Nothing waits without end: after its context ends, Run returns as soon as the
//     handlers have returned, and does not wait for a stuck transform.
//   - Stored objects are shared by everyone and must never be changed. The informer never
//     changes them.
//   - Every method is safe for any goroutine, and from within a handler, except that a
//     handler must not wait for its own end.
package informer
