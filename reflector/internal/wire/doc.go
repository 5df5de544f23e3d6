// Package wire turns requests for lists and watches into decoded objects. It does not know sources
// or the machine that decides what to request: the reflector gives it a function that sends a
// request.
//
// A request goes through a program's client, whose transport takes over the answer ([TakingClient],
// [Transport]), or through the REST client of a generated client ([REST]). The result is an
// [Answer]: a body, or what the client has decoded.
//
// A [Reception] reads a body on its own goroutine. It splits off items ([Objects] of one kind, in
// JSON or protobuf) as they arrive. A [Decoder] decodes them, unless the sink already has them. The
// result is batches of [Received] events. A body in another format fails the request
// ([ErrBadAnswer]).
//
// With a [Share], a reception first reads the UID or the namespace of each item, and drops foreign
// items undecoded. The version of the last foreign event follows the batch, as an event of type
// [Progress].
//
// A sink that packs its objects gets a [PackedDecoder] for the source's bytes, and provides a
// [Taker]. A reception passes each decoded object with its bytes to the Taker, while the bytes are
// still in its buffer.
//
// Invariants: a decoded object equals what client-go's client would have decoded, or decoding is an
// error. With self-checks, some objects are decoded both ways. A packed object decodes to what the
// reception decoded, without shared values. Objects never keep bytes of a body. Each body is closed
// exactly once, and a reception's goroutine ends with its context or its body.
package wire
