// Package sharepass lets objects share equal values after a transform has run.
//
// Where a user's transform may still write into a decoded object, its decoder
// shares strings only. A [Pass] then goes over what the transform has left, and
// puts the values of a [share.Table] in the place of equal ones.
//
// # Guarantees
//
// Equality. An object has the same content before and after, down to what
// reflect.DeepEqual tells apart, such as nil and empty. What the pass cannot
// encode without loss is not shared: interfaces in typed objects, structs with
// private fields, big or addressable Quantities, times of other places than
// time.UTC and time.Local or with a monotonic reading.
//
// Foreign memory. A transform may have put in references to things of its own.
// So the pass writes into one piece of memory only: the struct that the decoded
// pointer points to. It never writes into an element of a slice, a map or what a
// pointer leads to; where a part of one is shared, the object gets a copy that
// holds the shared part. What the table keeps is such a copy from top to bottom.
//
// Written values. What programs write into although they must not is left to
// each object: the containers of every ObjectMeta, but for FieldsV1, the fields
// of [fields.Written], and all values that hold one of these.
//
// Cost. Each value is encoded once, within the encoding of the value around it.
// An object whose encoding is longer than a few megabytes, or that is nested
// very deeply or in a circle, stays as it is.
//
// Concurrency. A Pass may be used by several goroutines. They take turns. It
// reads all of the result, so that no other goroutine may write into it.
package sharepass
