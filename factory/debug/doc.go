// Package debug serves a page that shows the informers of a program.
//
//	page := debug.New(debug.Options{}, f.Informers())
//	mux.Handle("/debug/informers", page) // next to net/http/pprof
//
// The page lists all informers: their state, scope, objects, memory (and how much of it is packed),
// staleness, the number and causes of their relists, how far each handler is behind, the last errors, and
// small plots of the last 15 minutes. ?informer=ID shows a single informer, with its indexes, label keys,
// quarantined objects and last 200 events. The ID depends only on the resource and the scope, so it stays the
// same in the next run of the program. ?format=json returns all informers, or one, as JSON.
//
// An informer starts measuring when it is first shown. New shows all existing informers once. To have plots
// from the start, call New after the informers have been requested.
//
// # Guarantees
//
//   - A response never waits for an informer, a handler, an index function or the API server. It shows the
//     state that is known at that moment. Methods are safe for concurrent use, and the page starts no
//     goroutine.
//   - The page shows no content of objects. For an error it shows the class, the path of the field, and text
//     that the server or the connection sent before an object was read. For indexes and label keys it shows
//     the number of values, but no value.
//   - For Secrets, and for informers of an unknown kind, it also hides the names of objects, and shows only
//     the class of an error.
//   - Only GET and HEAD are served, and only if the request's Host is localhost, an address, or one of
//     [Options].Hosts, unless [Options].AnyHost is set. That keeps out other web pages whose host name was
//     made to point here. There is no authentication: as with pprof, anyone who reaches the port sees the
//     page.
//   - The page loads nothing from elsewhere, and the content security policy forbids it. The page shows the
//     same without JavaScript. With JavaScript it refreshes itself in place.
//
// Names from the server are cut after 253 bytes, and characters that cannot be printed are replaced.
package debug
