// Package informertest is a Kubernetes API server in memory, for the tests of
// controllers and for demonstrations.
//
// A [Server] stores objects as kube-apiserver does: with versions, a history,
// pages, watches, bookmarks and expiry. There are three ways to talk to it. A
// [Source], from [Server.Source], stands where a typed client would stand
// behind an informer. Over HTTP a real clientset, made from
// [Server.ClientConfig], works as on a cluster: through sockets after
// [Server.Start], or through pipes within the process after
// [Server.StartInMemory]. Sources and pipes work inside a testing/synctest
// bubble, where time passes at once; sockets do not. All are the same server, and so
// are the methods that a test calls: [Server.Create], [Server.Update],
// [Server.Delete] and [Server.Get].
//
// A test of a controller writes, waits with [Server.Settle] until its informers
// and their handlers know, and looks at what came of it:
//
//	server.Create(ctx, pod)
//	server.Settle(ctx, factory.Core().V1().Pods().Informer())
//
// It brings about what in a cluster goes wrong once in a while. What [Request]
// says is what it is for, and each returns a function that undoes it:
//
//	server.CutWatches()                                       // a restart
//	server.Compact()                                          // versions that expire
//	server.Bookmark()                                         // quiet hours
//	server.Stall(informertest.Request{})                      // a server that hangs
//	server.SlowList(informertest.Request{}, 30*time.Second)   // a large cluster
//	server.Forbid(informertest.Request{Resource: "secrets"})  // a role that lacks a rule
//	server.Intercept(f)                                       // anything else
//
// What a real server told an informer can be kept: a [Recorder] writes it to a
// file, and [Replay] plays it back.
//
// Served are all built-in kinds that client-go has a client for and that can
// be listed and watched, 147 of them, and what [Server.Register] adds: CRDs,
// with a Go type or without; [Server.Unregister] takes a kind away. The typed clients work with all of it, in JSON
// and in protobuf, and so do the dynamic client, the metadata client, the scale
// client and discovery.
//
// # Guarantees
//
//   - All methods may be called from any goroutine. Each write is one step:
//     whoever reads sees all of it or nothing.
//   - Objects are copied on the way in and on the way out; nobody's changes
//     are seen by anybody else.
//   - A watch misses no event, and gets them in the order of their versions,
//     the bookmarks among them. A reader that is slow or gone holds up nobody;
//     what it has not read yet is kept, without a bound.
//   - The same calls lead to the same versions, UIDs and generated names.
//     Only metadata.creationTimestamp is taken from the clock.
//   - When Close returns, nothing of the server runs any more.
//   - Faults are met by requests from every client alike, before
//     they are served: what is refused, or given up while it waits, has changed nothing.
//   - A recording is played back in the same order to each collection, however
//     fast it is read.
//   - Bad input gets an error, and never a panic: from a request, the
//     *errors.StatusError of a real server; from the methods, one of the
//     errors of this package too.
//
// # Faithful
//
// Written after kube-apiserver v1.37 with its watch cache, default feature
// gates and etcd, using its own validation of metadata and list options. The
// scripts in testdata/claims say it request by request, and are played against
// that server too:
//
//   - One counter of versions for all resources; every write takes the next.
//     An update with a stale version, or for another UID, is a conflict; one
//     that changes nothing takes no version. metadata.generation counts the
//     changes of the spec where the kind has one.
//   - Lists at version "" and "0", not older than a version, and exactly at
//     one, ordered by "namespace/name". Pages are one state, whatever happens
//     between them; remainingItemCount is known where nothing selects. At "0"
//     the limit is ignored ([Options].NoWatchCache). A limit with a version
//     and no resourceVersionMatch means exactly that version.
//   - Where the history is compacted, lists at a version and continue tokens
//     are 410 Expired; the error of a token has another one, to go on with
//     what is there now. A watch is accepted, and says 410 in the stream.
//   - A version of the future is 504 Timeout with the cause
//     ResourceVersionTooLarge for gets and lists, and in the stream for a
//     watch with initial state. A plain watch waits for it.
//   - Watches from a version, from now on, or with the initial state
//     (WatchList), which ends with a bookmark annotated
//     k8s.io/initial-events-end if the client takes bookmarks; so do watches
//     of old at "" and "0", which get the same. [Options].NoWatchList is a
//     server that does not stream.
//   - To a watch with a selector, an object that begins to match is ADDED, and
//     one that ceases to match is DELETED, in its last matching state. A
//     DELETED object has the version of the deletion.
//   - Where a kind has the subresource status, clients change the status there
//     alone: a new object has none but the phase it is born in, an update of
//     the object keeps it, and one of the status changes nothing else. The
//     methods of the server write all at once, as no client can.
//   - The subresource scale, of autoscaling/v1, where the typed client has one
//     or [Kind].Scale says so.
//   - Patches: JSON, merge, and strategic merge for built-in kinds. One that
//     names a resourceVersion is a conflict if that has changed, and one that
//     names another UID is invalid.
//   - Objects, lists and watches in JSON or protobuf, whole or as
//     PartialObjectMetadata, as the Accept header likes it best. Objects of a
//     CRD have no protobuf, but their metadata do.
//   - Field selectors on metadata.name and metadata.namespace, and what
//     [Kind].Fields adds: for pods spec.nodeName and status.phase.
//
// # Not faithful
//
//   - An object is gone once it is deleted: finalizers, grace periods and
//     owners are stored and do nothing.
//   - There are no other subresources, such as binding, eviction and log, no
//     server-side apply (415), no managed fields, no deletion of collections
//     and no dry run (400).
//   - To write a status changes no labels, which some kinds allow.
//   - metadata.generation is counted by the kinds whose spec counts it, and at
//     no other change.
//   - Only metadata is validated, and of names only what holds for all kinds;
//     nothing is defaulted, and unknown fields are dropped. Namespaces need not
//     exist. There is no authentication and no admission: what is forbidden is said
//     by [Server.Forbid], and names no real user.
//   - There are no tables, no CBOR, no YAML and no aggregated discovery. Who
//     asks for one of them gets JSON if the Accept header has that too, else
//     406; a body in one of them is 415. A watch without timeoutSeconds has no
//     end.
//   - Each version of a resource is a resource of its own; objects are not
//     converted. The versions that no server has any more are there too,
//     extensions/v1beta1 among them; discovery prefers the stable ones.
//   - A version of the future is refused at once, where a real server waits
//     three seconds for it.
//   - History is kept until Compact is called.
package informertest
