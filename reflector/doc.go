// Package reflector mirrors the objects of one kind from an API server into a sink.
//
// A [Reflector] reads the full state from a [Source] and writes it to a [Sink]. Then it watches, and
// writes the changes, until its context ends. It recovers from failures: it reopens watches, backs
// off, and reads the full state again if changes may have been missed.
//
//	r := reflector.New(reflector.From(client.CoreV1().Pods("")), sink, reflector.Options{Name: "pods"})
//	err := r.Run(ctx) // until ctx ends
//
// A [Source] is a struct of functions, see there how to make and how to wrap one.
//
// # Guarantees
//
// Order. One goroutine at a time calls the sink, in the order described at [Sink]. Changes arrive in
// the order of the watch, over all objects. None is left out, except those reported by [Skipped].
// Each Begin is followed by one successful Commit or one Abort.
//
// Versions. [Reflector.Version] moves on after the sink has taken everything up to it. It never goes
// back within one history of the server; [NewHistory] tells the sink of another history.
//
// Bytes. The reflector decodes the answers of some sources itself, object by object: those of
// [FromGenerated] and [FromCustomResource] and, with [Wire] in the client's transport, of
// [FromDynamic], [FromMetadata] and [FromControllerRuntime]. The objects are the client's, but share
// equal values ([Decoding]). A few megabytes are read ahead, on a goroutine that ends with the
// request. Behind Wire the client decodes formats unknown here; for the first two sources they fail the
// request. An undecodable object is written as Poisoned.
//
// Shares. With a [Share] the sink gets the objects of a part of the source. Each request asks for it, and
// what is foreign is dropped: before it is decoded if the reflector decodes the answers, and is copied by
// nobody otherwise. The versions of foreign events move [Reflector.Version] on, and the sink gets them as
// [deltafifo.Progress]: behind the changes of a batch, and otherwise at most every 100 ms. If a server
// refuses the selector ([SelectorRefused]), it is asked for everything.
//
// Fakes. A source not known to stream ([Source].Streams) may be a fake without a history. Its list is committed when
// the next watch is open or has failed to open, or after 100 ms.
//
// Load. At most one request is under way, and at most one watch is open. A failure is followed by a
// back-off of 0.8 s. It doubles with each further failure up to 30 s, and is lengthened at random by
// up to as much again; two minutes without a failure reset it. Some failures are retried at once, but
// never twice in a row: a version that is not served, an expired page, a refused stream, the first
// 410 of a watch, a history that went back. A watch closed by the server is reopened at once, unless
// two in a row ended within a second. A list fails if it is not answered within ten minutes
// ([Options].ListPatience), or if it shows no end ([ErrEndless]). The Retry-After of a
// busy or failing server is obeyed, plus up to 0.8 s at random. A server that is too busy for a page, is
// unavailable (503) or loses the connection is asked for the same page again up to ten times.
//
// Absence. A 404 deletes nothing. It is reported ([NotServed]), the sink keeps its objects, and the
// resource is listed again at "", after 0.8 s, doubled up to 10 s and lengthened by up to half. Meanwhile no
// stream or watch is requested. The list that succeeds is the full state.
//
// Waiting. The sink may block; the server then waits, through TCP. A blocked call of the source is
// abandoned when ctx ends, and its result is dropped. Run returns within 100 ms of the end of ctx if
// the sink does. [Options].Observe must not block. A panic of the source is a failure; a panic of
// the sink or of Observe is not caught. A function that ends its goroutine ends Run, see
// [Reflector.Run].
//
// Concurrency. Run may be called once. Version may be called from any goroutine. No goroutine
// outlives Run, except those of abandoned calls.
package reflector
