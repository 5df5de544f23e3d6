// Package debug serves a page that shows the informers of a program.
//
//	page := debug.New(debug.Options{}, f.Informers())
//	mux.Handle("/debug/informers", page) // beside net/http/pprof
//
// The page lists all informers: their state, scope, objects, memory and what is packed of it,
// staleness, the number and causes of their relists, how far behind each handler is, the last errors,
// and small plots of the last 15 minutes. ?informer=ID shows a single informer: also its indexes, its label keys, its
// quarantined objects and the last 200 events. An informer has the same id in the next run of the
// program, as long as its resource and scope are the same. ?format=json returns the same as JSON, of all
// informers or of one.
//
// An informer starts measuring when it is first shown. New shows all existing informers once: call
// it after the informers have been requested, to have plots from the start.
//
// # Guarantees
//
//   - An answer never waits for an informer, a handler, an index function or the API server: it
//     shows the state known at the moment. Methods are safe for concurrent use, and the page
//     starts no goroutine.
//   - The page shows no content of objects. Of an error it shows the class, the path of the field,
//     and text that the server or the connection sent before an object was read. Of indexes and
//     label keys it shows how many values there are, but no value.
//   - For Secrets, and for informers whose kind is not known, it also hides the names of objects
//     and shows only the class of an error.
//   - Only GET and HEAD are answered, and only if the request's Host is localhost, an address, or
//     one of [Options].Hosts, unless [Options].AnyHost is set. That keeps out other web pages whose
//     host name was made to point here. There is no authentication: as with pprof, anyone who
//     reaches the port sees the page.
//   - Nothing is loaded from elsewhere, and the content security policy forbids it. The page shows
//     the same without JavaScript; with JavaScript it refreshes itself in place.
//
// Names from the server are cut after 253 bytes, and characters that cannot be printed are
// replaced.
package debug
