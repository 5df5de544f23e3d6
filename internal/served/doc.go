// Package served finds out when a server begins to serve a missing resource, and whether a resource
// was removed.
//
// A reflector asks a [Resource] after a list was answered with 404. The Resource lists the resource's
// CustomResourceDefinition, and watches it. If that is not permitted, or there never was a
// definition, it asks the server's discovery, again and again. The machine decides; the rest of the
// package sends requests.
//
// # Guarantees
//
// Silence. No request is sent before the first call of [Resource.Await], nor between two calls.
//
// Deletion. [Resource.Await] returns [Deleted] only if the deletion of the definition was seen, or a
// list lacks a definition seen before, or two discoveries in a row lack the resource in all versions.
// A 404 or another failure proves nothing. A discovery counts only if all its documents arrived and
// are of the expected kind: a proxy's error page is not.
//
// Versions. If the wanted version is served, it is chosen. Otherwise a client that follows gets the
// version preferred by discovery.
//
// Load. At most one watch is open, and one other request under way. Lists of the definition, and
// discoveries, are repeated after a second at the earliest. The pause doubles each time up to 30 s,
// and is lengthened at random by up to half; with discovery alone it is at most 6 s for the first 60
// times. If the resource is said to be served but lists still lack it, it is tried again after 0.1 s,
// doubled in the same way. News of the definition ends such a pause, and the next one is short again.
// If neither the definition nor discovery can be read, the reflector requests the resource itself.
//
// Concurrency. A Resource belongs to one goroutine. No goroutine outlives a call of Await, which
// returns soon after its context has ended if the client does.
package served
