// Package jsondecode decodes an API server's JSON: lists item by item and events of a watch as
// they arrive, and objects, untyped and of Go types.
//
// The scanner checks a text once, from the first byte to the last, and makes a list of its
// values. The decoders walk through that list: they build values, skip unknown fields and those
// to leave out, and look equal bytes up in a [share.Table]. No decoder sees JSON that is not
// well-formed.
//
// # Guarantees
//
// Results. An object is what apimachinery's util/json makes of the same bytes,
// and an error is its error. The common path is this package's own; where
// anything odd shows, such as a field of a struct that comes twice, util/json
// decodes the whole object again, and its result stands. Redone counts these.
//
// Safety. Programs break the rule that cached objects are read-only. What they
// commonly write into is never shared: the object itself, the values of keys
// "metadata" and of those that [fields.Written] names with all containers in
// them, and every container that holds one of these. Of the metadata only
// managedFields may be shared, and of those of Go types only each FieldsV1. Of a
// Go type nothing is shared either that an interface holds, that decodes
// itself in a way unknown here, or that has fields which JSON does not reach. A
// shared array has no room behind its end, so that to append is to copy. A
// shared resource.Quantity has its text, which String would store otherwise. One
// with a number beyond int64 is not shared, nor is one that has an address, as all
// have but those in maps: AsDec and others write into it.
//
// Bounds. A list is read item by item: one item is held, and what was read
// ahead of it. An item or an event has at most 1 GiB. No input makes this package
// allocate more than its own size times a constant, nor nest deeper than 10,000.
// A decoder remembers at most some thousand keys.
//
// Concurrency. A decoder may be used by many goroutines, which take turns: it
// holds a lock of its own, and then its table's, while it decodes one object.
// Methods UnmarshalJSON are called under these locks. [List] and [Events] belong
// to one goroutine.
//
// # Differences
//
// What apimachinery and client-go do otherwise, on purpose:
//
//   - What is left out is checked for its syntax only. A value in it that has the
//     wrong type, or is a number out of range, fails no object.
//   - A Quantity that is shared has its text, where one that util/json makes may
//     have none yet. Only reflect.DeepEqual can tell.
//   - The capacity of a slice is its length.
//   - A list is malformed where its own syntax is. An item that is malformed fails
//     when it is decoded, and costs no other item, as long as its brackets match.
//     The depth of an item is counted from the item.
//   - A list with "items" twice is malformed. So is one whose kind or metadata have
//     another type, which the dynamic client reads as if they were missing.
//   - Bytes that UnmarshalJSON gets are used again afterwards. Package
//     encoding/json asks for a copy as well, but does not punish those without one.
//   - Whether an object with a key "items" is a list, and what becomes of one
//     without a kind, is for the caller to decide.
package jsondecode
