// Package wire turns requests for lists and watches into decoded objects. It knows neither sources nor
// the machine that decides what to ask for: a package above gives it a function that sends one request.
//
// A request goes through the client of a program, and its answer is taken over in the client's transport
// ([TakingClient], [Transport]), or through the REST client of a generated client ([REST]). Either yields
// an [Answer]: a body, or what the client has made of it itself.
//
// A body is read by a [Reception], on a goroutine of its own: items ([Objects] of one kind, in JSON or in
// protobuf) are split off as they arrive, and are decoded by a [Decoder] unless the sink has them already.
// What comes out is a batch of [Received] events. A body in another format is a failed request ([ErrBadAnswer]).
//
// Of a [Share] a reception reads the uid or the namespace of each item first, and drops the foreign ones
// undecoded. The version of the last foreign event comes behind the batch, as an event of type [Progress].
//
// A sink that holds its objects packed gets a [PackedDecoder] of the source's bytes, and gives a [Taker], to which a
// reception passes each decoded object with its bytes, while they still lie in its buffer.
//
// Invariants: what is decoded here equals what client-go's client would have decoded, or is an error; in a
// program that checks itself a part of the objects is decoded both ways. What is packed decodes to what the
// reception had decoded, without shared values. Bytes of a body are never kept by
// an object. A body is closed exactly once, and a reception's goroutine ends with its context or its body.
package wire
