// Package served finds out, by discovery, when a server begins to serve a missing resource, and whether
// a resource was removed.
//
// A reflector asks a [Resource] after a list was answered with 404. The Resource asks the server's
// discovery, again and again, until it can answer.
//
// # Guarantees
//
// Silence. No request is sent before the first call of [Resource.Await], nor between two calls.
//
// Deletion. [Resource.Await] returns [Deleted] only if three answers in a row, at least 10 s from the
// first to the last, lack the resource in all versions. A 404 or another failure proves nothing, and
// the count begins anew after it. An answer counts only if all its documents arrived and are of the
// expected kind: a proxy's error page is not.
//
// Load. One request is under way at a time. Each question follows a pause of 1 s, doubled with each
// further one up to 10 s, and lengthened at random by up to half. The pauses begin anew only after
// [Resource.Found].
//
// Concurrency. A Resource belongs to one goroutine. It has none of its own. Await returns soon after
// its context has ended if the client does.
package served
