// Package jsondecode decodes an API server's JSON: lists item by item and events of a watch as
// they arrive, and objects, untyped and of Go types.
//
// The scanner checks a text once, from the first byte to the last, and lists its values. The
// decoders walk through that list: they build values, skip unknown and dropped fields, and look up
// equal bytes in a [share.Table]. They never see malformed JSON.
//
// # Guarantees
//
// Results. A decoder returns the object or the error that apimachinery's util/json returns for the
// same bytes. It decodes plain objects itself. util/json decodes unusual objects again, such as
// those with a duplicate field.
//
// Safety. Programs break the rule that cached objects are read-only. So an object
// never shares the containers that programs commonly write into, nor those around
// them: package gotype decides which these are. Of the metadata, untyped objects may share
// managedFields, and typed ones each FieldsV1. A shared array has no spare capacity, so append
// copies it. A resource.Quantity is shared only as the value of a map, since AsDec
// and other methods write into an addressable one, and only up to int64.
//
// Secrecy. Strings of a Secret do not enter the table. Without [Options].Values, as before a
// transform, keys and strings in [gotype.Payload] do not enter it either. Removing them from an
// object then removes them from memory.
//
// Bounds. A reader reads a list item by item. It keeps one item and the bytes read ahead, without
// spaces. An item or an event has at most 1 GiB. The memory for an input is at most its size times
// a constant, and the nesting at most 10,000. A decoder remembers at most a few thousand keys.
//
// Concurrency. Goroutines may share a decoder, and take turns. A decoder holds its own lock, and
// then its table's, while it decodes an object and calls its UnmarshalJSON methods. [List] and
// [Events] belong to one goroutine.
//
// # Differences
//
// These results differ from apimachinery's and client-go's, on purpose:
//
//   - A dropped field is checked for its syntax only: a value of the wrong type, or
//     a number out of range, is no error there. A type with an UnmarshalJSON does
//     not see it.
//   - The capacity of a slice is its length.
//   - A malformed item does not make its list malformed, as long as its brackets
//     match: the item's decoder fails. The depth of an item counts from the item.
//   - A list with two keys "items" is malformed, and so is a list with a kind or
//     metadata of the wrong type. The dynamic client ignores the wrong value.
//   - The caller decides whether an object with a key "items" is a list, and
//     whether an object needs a kind.
package jsondecode
