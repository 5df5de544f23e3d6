// Package protodecode decodes objects from the API server's protobuf.
//
// A [Decoder] does the work of a type's generated Unmarshal, with tables made from the struct tags. It
// takes shared values from a [share.Table], and skips dropped fields.
//
// # Guarantees
//
// Results. A decoder returns an object that deeply equals the result of the generated Unmarshal, or
// returns its error. If it meets unusual bytes (a wrong wire type, a group, a message that occurs twice,
// an incomplete field), it calls the generated Unmarshal. There are four differences:
//
//   - A dropped field is not decoded, so an error inside it has no effect. A field that is dropped
//     below the keys of a map of messages, or from a type with an UnmarshalJSON, is removed after
//     the generated Unmarshal has run.
//   - Messages nested more than 10,000 deep are an error. Generated code would exhaust its stack.
//   - A panic of the generated Unmarshal is an error.
//   - The capacity of a slice is its length.
//
// Safety. Objects share only values that programs hardly ever write into, and that contain no value that
// they do write into. Package gotype decides which values these are. A Quantity is shared only as the
// value of a map, and only up to int64, because getters write into other Quantities. A shared slice has
// no spare capacity, so append copies it.
//
// Secrecy. Strings of a Secret do not enter the table. Without [Options].Values, which a transform
// disables, strings in [gotype.Payload] do not enter it either. Removing them from an object then
// removes them from memory.
//
// Bounds. The memory allocated for a message grows with the bytes that have arrived, not with an
// announced length. An object does not refer to the bytes.
//
// Concurrency. A Decoder is safe for concurrent use. It holds the table's lock while it decodes an
// object.
package protodecode
