// Package reflector mirrors the objects of one kind from an API server into a sink:
//
//	source := reflector.From(client.CoreV1().Pods(""))
//	r := reflector.New(source, sink, reflector.Options{Name: "pods"})
//	err := r.Run(ctx) // until ctx ends
//
// A [Reflector] reads the full state from a [Source] and writes it to a [Sink]. Then it watches, and
// writes the changes, until its context ends. It recovers from failures: it reopens watches, backs
// off, and reads the full state again if it may have missed changes. Informers use a reflector, so
// only authors of their own sinks need this package's [New].
//
// # Guarantees
//
// Order. One goroutine at a time calls the sink, in the order that [Sink] describes. Changes arrive
// in the order of the watch, across all objects. The reflector leaves out only changes that it reports
// as [Skipped]. Exactly one successful Commit or one Abort follows each Begin.
//
// Versions. [Reflector.Version] moves forward after the sink has taken everything up to it. It never
// goes back within one history of the server. The sink learns of another history by [NewHistory].
//
// Decoding. The reflector decodes the answers of some sources itself, object by object: those of
// [FromGenerated] and [FromCustomResource] and, with [Wire] in the client's transport, of
// [FromDynamic], [FromMetadata] and [FromControllerRuntime]. The objects equal the client's, but share
// equal values ([Decoding]). The reflector reads a few megabytes ahead, on a goroutine that ends with
// the request. Behind Wire, the client decodes formats that the reflector does not know; for the first
// two sources such a format fails the request. The sink gets an undecodable object as Poisoned.
//
// Shares. With a share ([Options].Share), the sink gets a part of the source's objects. Each request asks the
// server for that part, and the reflector drops all other objects: before decoding them if it
// decodes the answers itself, and otherwise without copying them. The versions of these foreign
// events move [Reflector.Version] forward. The sink gets them as [deltafifo.Progress], after the
// changes of a batch, and otherwise at most every 100 ms. If a server refuses the selector
// ([SelectorRefused]), the reflector asks for all objects.
//
// Fakes. A source that is not known to stream ([Source].Streams) may be a fake, which keeps no
// history. The reflector commits its list when the next watch has opened or failed, or after 100 ms.
//
// Load. At most one request is in progress, and at most one watch is open. After a failure the
// reflector backs off for 0.8 s, doubled with each further failure up to 30 s, plus up to the same
// time at random. Two minutes without a failure reset the back-off. The reflector retries some failures
// at once, but never twice in a row: an unavailable version, an expired page, a refused stream, the
// first 410 of a watch, a history that went back. It reopens a watch at once when the server closes it,
// unless two in a row ended within a second. A list fails if no answer arrives within ten minutes
// ([Options].ListPatience), or if the list does not seem to end ([ErrEndless]). The reflector obeys the
// Retry-After of a busy or failing server, plus up to 0.8 s at random. If the server is too busy for a
// page, is unavailable (503), or loses the connection, the reflector requests the same page up to ten
// more times.
//
// Absence. A 404 deletes nothing. The reflector reports it ([NotServed]), and the sink keeps its
// objects. The reflector lists the resource again at "", after 0.8 s, doubled up to 10 s, plus up to
// half of that. It requests no stream or watch until a list succeeds. That list is the full state.
//
// Blocking. The sink may block: TCP then slows the server down. If a call of the source blocks when ctx
// ends, the reflector abandons it and drops its result. Run returns within 100 ms of the end of ctx if
// the sink returns. [Options].Observe must not block. A panic of the source counts as a failure. The
// reflector does not recover a panic of the sink or of Observe. A function that calls runtime.Goexit
// ends Run, see [Reflector.Run].
//
// Concurrency. Call Run once. Any goroutine may call Version. When Run returns, only the goroutines of
// abandoned calls are left.
package reflector
