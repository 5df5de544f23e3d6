// Package informertest is a Kubernetes API server in memory, for tests of controllers and for
// demonstrations. It serves controllers on client-go's informers, on controller-runtime and on this
// module alike: everything that is made from a rest.Config works.
//
// A [Server] stores objects as kube-apiserver does: with versions, a history, pages, watches,
// bookmarks and expiry. There are three ways to talk to it. [Server.Source] takes the
// place of a typed client behind an informer. A real clientset, made from [Server.ClientConfig],
// sends HTTP requests: over sockets after [Server.Start], or over pipes within the process after
// [Server.StartInMemory]. Sources and pipes work in a testing/synctest bubble; sockets do not. A test
// itself calls [Server.Create], [Server.Update], [Server.Delete] and [Server.Get].
//
// A test writes, waits with [Server.Settle] until informers and handlers have the change, and checks
// the result:
//
//	server.Create(ctx, pod)
//	server.Settle(ctx, factory.Core().V1().Pods().Informer())
//
// In a bubble, synctest.Wait waits for work queues and workers, too. The clock of a bubble begins in
// the year 2000, and utilruntime.HandleError may sleep there until the time of an earlier error. To
// remove its rate limiter, set utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] in TestMain.
// [Server.Requests] returns the requests of a controller:
//
//	server.Requests().Of(informertest.Request{Verb: "patch", Resource: "pods", Subresource: "status"})
//
// The server causes the faults of a cluster. A [Request] selects the affected requests; each method
// returns a function that ends the fault:
//
//	server.CutWatches()                                       // a restart
//	server.Compact()                                          // expired versions
//	server.Bookmark()                                         // a quiet hour
//	server.Stall(informertest.Request{})                      // a hanging server
//	server.Forbid(informertest.Request{Resource: "secrets"})  // a missing rule
//	server.Intercept(f)                                       // anything else
//
// The server knows all 147 built-in kinds that client-go can list and watch. [Server.Register] adds
// CRDs, with or without a Go type. README.md compares the server with fake clientsets and envtest,
// and lists in detail how it is faithful to kube-apiserver, and where it is not.
//
// # Guarantees
//
//   - All methods may be called from any goroutine. Each write is atomic.
//   - Objects are copied on the way in and on the way out.
//   - A watch misses no event, and gets them in the order of their versions, bookmarks included. A
//     slow reader blocks nobody; its unread events are kept, without a bound.
//   - The same calls lead to the same versions, UIDs and generated names. Only the times in the
//     metadata depend on the clock.
//   - After Close, nothing of the server runs any more.
//   - Faults affect the requests of all clients alike, before the server handles them: a rejected or
//     abandoned request has changed nothing.
//   - Bad input gets an error, never a panic: for a request the *errors.StatusError of a real server,
//     for a method also an error of this package.
package informertest
