// Package reflector mirrors what an API server holds of one kind into a sink.
//
// A [Reflector] asks a [Source] for the full state, writes it to a [Sink],
// then watches for changes and writes those, until it is told to stop. What
// goes wrong on the way it mends by itself: it reopens watches, backs off from
// servers in trouble, and asks for the full state again where changes may have
// been missed.
//
//	r := reflector.New(reflector.From(client.CoreV1().Pods("")), sink, reflector.Options{Name: "pods"})
//	err := r.Run(ctx) // until ctx ends
//
// # Guarantees
//
// Order. The sink is called by one goroutine at a time, in the order that
// [Sink] describes: by that of Run, until a call of the sink ends it. Changes are written in the order of the watch, across all
// objects; none is left out but those told in a [Skipped] event. Every Begin
// is followed by one Commit that succeeds or by one Abort.
//
// Versions. [Reflector.Version] is told only after the sink took everything up
// to it. It never goes back while one history of the server lasts; that the
// history is another one is told to the sink by [NewHistory]. Versions that do
// not compare are taken as they come.
//
// Bytes. The answers of some sources the reflector reads itself, item by item as they
// arrive: those of [FromGenerated] and [FromCustomResource] and, with [Wire] in the client's
// transport, of [FromDynamic], [FromMetadata] and [FromControllerRuntime]. The objects
// are those that the client would have made, but that they share equal values
// ([Decoding]). A few megabytes are read ahead of the sink, on a goroutine that ends with
// the request. An object that cannot be decoded is written as Poisoned. What is in a
// format that is not known here is left to the client.
//
// Recall. With [Wire] in the client's transport, a sink that is a
// [Recaller] is written its own objects in place of those of a stream that are
// of the same UID and version. The sink cannot tell them from others but by
// [deltafifo.Delta].Recalled: order, Begin and Commit are the same.
//
// Fakes. A source that is not known to stream may be a fake, which keeps no history:
// its list is committed when the watch is open that follows it, or could not be opened,
// or when 100 ms have passed.
//
// Resuming. A sink that is at a version already may be brought up to date by a watch from
// there in place of a full state, see [Resume].
//
// Load. At most one request is under way and at most one watch open. A failure
// is followed by a back-off of 0.8 s, doubled with each further one up to 30 s
// and lengthened by up to as much again by chance; two minutes without a
// failure start it anew. Some failures are answered at once: a version that
// the server does not serve, a page that expired, a stream that is refused, the
// first 410 of a watch, a history that went back. They cannot follow each
// other without end, whatever the server answers. A watch that the server
// closes is reopened at once, unless it is the second in a row that ended
// within a second. A list that is not answered within ten minutes ([Options].ListPatience)
// has failed, and so has one that shows no sign of an end ([ErrEndless]). A server that
// is too busy and says for how long is obeyed, and up to 0.8 s more, by chance.
//
// Absence. A resource that the server answers with 404 is waited for, where the source knows it and
// has a client of client-go's that speaks to a server: [FromDynamic], [FromMetadata], [FromGenerated] and
// [FromCustomResource]. [NotServed] tells so, and nothing is asked of the resource meanwhile. Nobody is asked about it
// before the first 404. Then its CustomResourceDefinition is watched, one object by its name, so that the resource is listed
// within moments of its being served; without the right to, or where there never was one, discovery is asked with back-off,
// up to 9 s apart for some minutes, and then up to 45 s. What is in the sink stays until the resource is known to have been taken away: the definition was
// seen to be deleted, or is not listed any more after it was seen, or two discoveries in a row lack it. Then a full state
// without objects is committed ([Withdrawn]). A 404 alone proves nothing. A source of [FromDynamic] or [FromMetadata] whose
// version is served no more goes on with the one that discovery prefers, in a new history; one of a Go type waits. A
// metadata client learns the versions only with [Wire] in its transport. All other sources have failed, as with other errors.
//
// Waiting. The sink may block: the server then waits, by way of TCP. A call of
// the source may block: it is abandoned when ctx ends, and what it returns
// later is dropped. A source that does not say what it can do is told of after ten
// seconds, and waited for. Run returns within 100 ms of the end of ctx if the sink does.
// [Options].Observe must not block. A panic of the source is a failure like others;
// one of the sink or of Observe is not caught. Functions that end their goroutine
// (runtime.Goexit) do not end the reflector.
//
// Concurrency. Run may be called once. Version may be called from any
// goroutine. No goroutine outlives Run, but for those of abandoned calls.
package reflector
