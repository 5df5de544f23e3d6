// Package informertest is a Kubernetes API server in memory, for tests of controllers and for demonstrations:
//
//	server := informertest.New(informertest.Options{})
//	defer server.Close()
//	err := server.StartInMemory()
//	client := kubernetes.NewForConfigOrDie(server.ClientConfig())
//
// Everything that is made from a rest.Config works with it: client-go's informers, controller-runtime, and
// this module.
//
// A [Server] stores objects as kube-apiserver does: with versions, a history, pages, watches, bookmarks and
// expiry. Clients can reach it in three ways:
//
//   - [Server.Start] serves HTTP on a socket, for clients made from [Server.ClientConfig].
//   - [Server.StartInMemory] serves the same clients, but over pipes within the process.
//   - [Server.Source] takes the place of a typed client behind an informer, without HTTP.
//
// Pipes and sources work in a testing/synctest bubble; sockets do not. The test itself calls [Server.Create],
// [Server.Update], [Server.Delete] and [Server.Get].
//
// A test writes an object, waits with [Server.Settle] until informers and handlers have the change, and checks
// the result:
//
//	server.Create(ctx, pod)
//	server.Settle(ctx, factory.Core().V1().Pods().Informer())
//
// In a bubble, synctest.Wait also waits for work queues and workers. The clock of a bubble begins in the year
// 2000, so utilruntime.HandleError may sleep until the time of an earlier error. To remove its rate limiter, set
// utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] in TestMain.
//
// [Server.Requests] returns the requests that a controller has sent:
//
//	server.Requests().Of(informertest.Request{Verb: "patch", Resource: "pods", Subresource: "status"})
//
// The server can simulate the faults of a cluster:
//
//	server.CutWatches()                                       // a restart
//	server.Compact()                                          // expired versions
//	server.Bookmark()                                         // a quiet hour
//	server.Stall(informertest.Request{})                      // a hanging server
//	server.Forbid(informertest.Request{Resource: "secrets"})  // a missing rule
//	server.Intercept(f)                                       // anything else
//
// The last three return a function that ends the fault. The [Request] selects the affected requests.
//
// The server has all 147 built-in kinds that client-go can list and watch. [Server.Register] adds CRDs, with or
// without a Go type. README.md compares the server with fake clientsets and envtest, and lists where it behaves
// like kube-apiserver and where it does not.
//
// # Guarantees
//
//   - All methods are safe for concurrent use. Each write is atomic.
//   - The server copies objects that it receives and returns.
//   - A watch misses no event. It gets events and bookmarks in the order of their versions. A slow reader delays
//     no other reader. Its unread events are kept, without a limit.
//   - The same calls lead to the same versions, UIDs and generated names. Only the times in the metadata depend
//     on the clock.
//   - After Close, no goroutine of the server is left.
//   - Faults affect the requests of all clients, before the server handles them. So a rejected or abandoned
//     request has changed nothing.
//   - Invalid input returns an error, and never panics: a request gets the *errors.StatusError of a real server,
//     and a method may also return an error of this package.
package informertest
