// Package served finds out when a resource that a server did not know comes to be served, and
// whether it was taken away.
//
// A [Resource] is asked by a reflector whose list was answered with 404. It lists
// the definition of the resource, the one CustomResourceDefinition of its name, and watches
// it. Where it has no right to, or where there was never such a definition, it asks the
// server's discovery, again and again. The machine decides; the rest of the
// package asks.
//
// # Guarantees
//
// Silence. Nothing is asked before the first call of [Resource.Await], nor between two calls.
//
// Deletion. [Resource.Await] returns [Deleted] only where the definition was seen to be deleted,
// where a list of it succeeded and lacks it after it was seen, or where two discoveries
// in a row succeeded and lack the resource in all versions. Neither a 404 nor any other failure
// is a proof. A discovery has succeeded when all its documents came and are of the kind
// that was asked for: a page of a proxy is none.
//
// Versions. Of the versions that are served the wanted one is chosen. Another one is
// chosen only for a client that follows: the one that discovery prefers.
//
// Load. At most one watch is open, and one other request under way. The definition is listed, and
// discovery asked, again after a second at the earliest, doubled with each further time up to 30 s and lengthened by up to half as
// much again by chance; where only discovery can be asked, up to 6 s for the first 60 times. Where the server says that the resource is served, and lists still lack it, the resource is tried
// again after 0.1 s, doubled in the same way. An event of the definition ends such a pause if it is news. Where neither the
// definition nor discovery can be asked, the reflector asks for the resource itself.
//
// Concurrency. A Resource belongs to one goroutine. No goroutine outlives a call of
// Await, which returns soon after its context has ended if the client does.
package served
