// Package protodecode decodes objects from the API server's protobuf.
//
// A [Decoder] does the work of a type's generated Unmarshal, by tables made of the struct tags.
// It takes values of other objects from a [share.Table], and skips the fields that are left out.
//
// # Guarantees
//
// Results. An object is deeply equal to what the generated Unmarshal makes of
// the same bytes, or both fail. Only well-formed bytes are decoded here: at the
// first oddity (a wrong wire type, a group, a message that occurs twice, what
// is cut off) the object is decoded anew by the generated Unmarshal, whose
// result or error stands. The differences:
//
//   - Where values are shared, a Quantity holds its text already, which its
//     String method would write into it.
//   - What is left out is not looked into, so errors in there go unnoticed.
//   - Messages nested more than 10,000 deep are an error; generated code would
//     go on until its stack ends.
//   - A panic of the generated Unmarshal is an error.
//   - The capacity of a slice is its length.
//
// Safety. Shared values are those that programs hardly ever write into. Each
// object has its own labels, annotations, finalizers, owner references and
// managed fields, at any depth, and its own data and nodeSelector maps; and
// nothing that holds one of these is shared. Neither is what a getter writes
// into: a Quantity that has an address (in a map it has none), or is a big
// number. A shared slice has no room to append to.
//
// Bounds. Memory is allocated for what has arrived, never for what a length
// announces. Data is not kept.
//
// Concurrency. A Decoder may be used by any goroutine. It holds the table while
// it decodes an object.
package protodecode
