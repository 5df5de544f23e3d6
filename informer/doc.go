// Package informer keeps a local copy of the objects of a Kubernetes API server, and calls handlers for each
// change. It reimplements client-go's informers.
//
//	pods := informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{})
//	pods.HandleKeys(queue.Add, informer.HandlerOptions{Name: "controller"})
//	go pods.Run(ctx)
//	if err := pods.WaitSynced(ctx); err != nil {
//		return err
//	}
//	pod, err := pods.Lister().Namespace("default").Get("web-1")
//
// [New] makes an [Informer] of a Go type; package factory shares informers between the parts of a program.
// [Informer.Indexer] and [Informer.Lister] read the store. A handler receives single changes
// ([Informer.Handle]), several changes at once ([Informer.HandleBatch]), or the keys of changed objects
// ([Informer.HandleKeys]). [Informer.Shared] returns the same informer as client-go's SharedIndexInformer.
// Package informer/cache has client-go's constructors.
//
// A change takes this path: the reflector of a source lists and watches, and writes to a bounded queue. The
// processLoop takes everything from the queue, applies it to the store in one short write section, and
// appends it to a log. Each handler reads the log on its own goroutine, at its own pace.
//
// # Guarantees
//
// The numbers (D35, T15) are those of docs/contract.md.
//
//   - A handler gets every change after the store has it, one at a time, in the store's order. [Latest]
//     delivery merges the pending changes of an object.
//   - A slow, stuck or late handler delays no other handler. Its undelivered changes are kept. With [Every],
//     only memory limits them, see [Registration.Backlog].
//   - A watch event is always applied and delivered. A relist delivers only differences: an object with the
//     UID and resourceVersion of the stored one changes nothing.
//   - A relist delivers deletions first, then additions and updates in the order of the list. The store shows
//     all of them at once.
//   - A transform runs exactly once for each received object, with no lock held. If it fails, the object is
//     quarantined: the informer reports and counts it, and tries again with the object's next event and with
//     each list. Other objects are not affected. A delete is always applied.
//   - A transform or index function that panics on an object has failed on that object.
//   - A handler or other callback that calls runtime.Goexit (as a test's t.FailNow does) ends the run with
//     [ErrExited]. The stored objects stay readable. A callback that runs on the program's own goroutine, as
//     in a write by hand, ends only that goroutine. No lock stays held.
//   - With reflector.OwnWrites in the client's config, the program's own writes are in the store when their
//     calls return. Their watch events then change nothing (D35, D36).
//   - With [Options].Shard, the store holds only the objects of a share.
//   - Run returns when its context has ended, and the handlers and the transform have returned.
//   - All readers share the stored objects, and must not change them. The informer does not change them
//     either. In tests, KUBE_CACHE_MUTATION_DETECTOR=true or TIDEMARK_VERIFY=1 ends a program that does
//     (T15).
//   - All methods are safe for concurrent use, also from within a handler. But a handler must not wait for
//     its own end.
//
// # Waits
//
//	the initial state                WaitSynced
//	this object, as it was written   WaitFor        returns at once if the store already shows the write
//	everything the server has now    WaitFresh      also covers a write with an unknown outcome
//	this version, and the handlers   WaitDelivered  waits for the watch, even after an own write
//
// A wait returns nil if its condition holds, even if the context has ended or the informer has stopped.
// Otherwise it fails when the context ends or the informer stops ([ErrStopped]). If the server's history goes
// back, WaitFresh asks the server again, and WaitFor and WaitDelivered return [ErrVersion]. Versions that
// cannot be compared are also ErrVersion. Most fakes send no versions; then the first full state is enough.
// Each error names the informer and the reason, and wraps the source's last error. If the arguments of New
// were invalid, all waits return that error.
package informer
