// Package debug shows in a browser what the informers of a program do.
//
//	page := debug.New(debug.Options{}, factory.InUse(f))
//	mux.Handle("/debug/informers", page) // beside net/http/pprof
//
// The page lists all informers: their state, scope, objects, memory and staleness, how
// often they listed anew and why, how far behind each handler is, the last errors, and
// small plots of the last 15 minutes. ?informer= and an id show one of them: its indexes,
// its label keys, what is quarantined and the last 200 events. An id stays the same in
// the next run of the program, as long as the informer is of the same resource and scope.
// ?format=json answers with a [Report], of all or of one.
//
// An informer measures from the first time that it is looked at. New looks once at all
// that there are: call it when the informers have been asked for, or [Page.Report] later,
// to have plots from the start.
//
// # Guarantees
//
//   - An answer never waits for an informer, a handler, an index function or the API
//     server: it tells what is known. Methods are safe for any goroutine, and there is
//     none that the page starts.
//   - No content of an object is shown: of errors the class, the field's path and the
//     text that the server or the connection gave before there was an object; of indexes
//     and label keys how many values there are, and none of them.
//   - Of Secrets, and of what is not known to be something else, names are hidden too, and
//     errors are told as their class alone. [Options].SecretNames shows the names.
//   - Only GET and HEAD are answered, and only where the request's Host is localhost, an
//     address, or one of [Options].Hosts: a page of somebody else's, whose name was made to
//     point here, gets nothing. Nobody is asked who they are: as with pprof, whoever
//     reaches the port sees the page.
//   - Nothing is loaded from elsewhere, and the content security policy forbids it. The page
//     reads the same without JavaScript; with it, it renews itself where it stands.
//
// Names that come from the server are cut after 253 bytes, and what does not print is
// replaced.
package debug
