// Package protodecode decodes objects from the API server's protobuf.
//
// A [Decoder] does the work of a type's generated Unmarshal, with tables made from the struct tags.
// It takes values of other objects from a [share.Table], and skips dropped fields.
//
// # Guarantees
//
// Results. A decoder returns an object deeply equal to the generated Unmarshal's,
// or its error. At the first oddity (a wrong wire type, a group, a message that
// occurs twice, an incomplete field) it leaves the object to the generated
// Unmarshal. There are four differences:
//
//   - A dropped field is not decoded, so errors inside it go unnoticed. Fields
//     dropped behind the keys of a map of messages, or from a type with an
//     UnmarshalJSON, are removed after the generated Unmarshal has run.
//   - Messages nested more than 10,000 deep are an error; generated code would
//     exhaust its stack.
//   - A panic of the generated Unmarshal is an error.
//   - The capacity of a slice is its length.
//
// Safety. Objects share only values that programs hardly ever write into, and no value around
// one that they write into: package gotype decides which these are. A Quantity is shared only
// as the value of a map, and only if it is no big number, since getters write into the others.
// A shared slice has no spare capacity, so append copies it.
//
// Secrecy. Strings of a Secret do not enter the table, and without
// [Options].Values, as before a transform, neither do those in [gotype.Payload]:
// who removes them from an object removes them from memory.
//
// Bounds. The memory allocated for a message grows with the bytes that have
// arrived, not with an announced length. An object keeps no part of the bytes.
//
// Concurrency. A Decoder may be used by any goroutine. It holds the table while
// it decodes an object.
package protodecode
