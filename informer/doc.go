// Package informer mirrors the objects of a Kubernetes API server into a store and calls handlers
// for each change: client-go's informers, done anew.
//
// [New] makes an [Informer] of a Go type; a factory lends one. [Informer.Indexer] and
// [Informer.Lister] read its store. [Informer.Handle] registers a handler for single changes,
// [Informer.HandleBatch] a handler for several changes at once, and [Informer.HandleKeys] a function that
// gets the keys of the changed objects. [Informer.Run] does the work until its context ends. Programs written for client-go get
// the same informer under client-go's interfaces, see [Informer.Shared]; package informer/cache has
// client-go's constructors.
//
// The path of a change: the reflector of a source lists and watches, and writes to a bounded
// queue. The processLoop takes everything that is queued, applies it to the store in one short
// section, and appends it to a log. Each handler has its own goroutine, which reads the log at its
// own pace.
//
// # Guarantees
//
//   - A handler gets every change, one at a time, in the order in which the store made them, and
//     each after the store made it. [Latest] delivery merges the changes of an object that the
//     handler has not reached yet.
//   - A slow, stuck or late handler delays nobody else. Its undelivered changes are kept: without
//     bound for [Every] delivery, see [Registration.Backlog].
//   - A watch event is always applied and delivered. Of a relist, only differences are delivered:
//     an object with the same UID and resourceVersion as the stored one changes nothing.
//   - Deletions found by a relist are delivered first, then additions and updates in the order of
//     the list. The store shows all of them at once.
//   - A transform runs exactly once for each object received, with no lock held. An object on
//     which it fails is quarantined: reported, counted and tried again, while all other objects go
//     on. A delete is always applied.
//   - A transform or index function that panics has failed on that object.
//   - A function that ends its goroutine (runtime.Goexit, as a test's t.FailNow does) ends the run
//     with [ErrExited], whether it is a handler or another one. What is stored stays readable. On a
//     program's own goroutine, as in a write by hand, that goroutine ends, and no lock stays held.
//   - With reflector.OwnWrites in the client's config, the program's own writes are in the store when their
//     calls return, and their events change nothing (D35, D36 in CONTRACT.md).
//   - With [Options].Shard the store holds the objects of a share, and no others.
//   - Run returns when its context has ended, and the handlers and the transform have returned.
//   - Everyone shares the stored objects and must never change them; the informer never does. In tests,
//     KUBE_CACHE_MUTATION_DETECTOR=true or TIDEMARK_VERIFY=1 ends programs that do (T15 in CONTRACT.md).
//   - Every method may be called from any goroutine and from within a handler, except that a
//     handler must not wait for its own end.
//
// # Waits
//
//	for the initial state               WaitSynced
//	for this object, as it was written  WaitFor        returns at once after an own write that is shown
//	for all that the server has now     WaitFresh      also for a write whose outcome is not known
//	for this version, and the handlers  WaitDelivered  of the watch, also for an own write
//
// A wait that has what it waits for returns nil, also with a context that has ended and after the informer has
// stopped. It ends in vain with its context, with the informer ([ErrStopped]), or when the server's history goes back:
// WaitFresh then asks the server again, WaitFor and WaitDelivered return [ErrVersion]. Versions that do not compare are
// ErrVersion, too. Where there is no version, as from most fakes, there is nothing to compare, and the first full state
// is enough. Each error names the informer and the reason, and wraps the last error of the source. If the arguments of
// New were invalid, waits return that error.
package informer
