// Package sharepass lets objects share equal values after a transform has run.
//
// With a transform, which may write into a decoded object, the decoder shares strings only. After
// the transform a [Pass] walks through the object, and replaces values by equal ones of a
// [share.Table].
//
// # Guarantees
//
// Equality. A pass does not change an object's content: by reflect.DeepEqual, which distinguishes
// nil from empty, it is the same before and after. The pass does not share values that it cannot
// encode without loss: interfaces in typed objects, structs with private fields, big or
// addressable Quantities, times with a monotonic reading or of other locations than time.UTC and
// time.Local.
//
// Foreign memory. A transform may have added references to memory of its own. The pass therefore
// writes into the decoded struct only, never into slices, maps or structs that it refers to. To
// share a part of those, it gives the object a copy with the shared part. The table keeps
// complete copies only.
//
// Written values. Values that programs often write into, although they must not, are not shared:
// the maps and slices of every ObjectMeta, except FieldsV1, the fields of [fields.Written], and
// all values with one of these inside.
//
// Cost. Each value is encoded once, within the encoding of the value around it. An object stays
// as it is if its encoding is longer than a few megabytes, or if it is nested very deeply or in a
// circle.
//
// Concurrency. Several goroutines may use a Pass; they take turns. It reads the whole object, so
// no other goroutine may write into it.
package sharepass
