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
// time.Local. Nor does it share a struct with a field that JSON does not reach.
//
// Foreign memory. A transform may have handed its object on, or added references to memory of its
// own. The pass therefore writes into nothing that the transform has seen: it returns a copy of the
// object with the shared parts, and of each slice, map or struct around one. The table keeps complete
// copies only. An object with private fields stays as it is.
//
// Written values. Values that programs often write into, although they must not, are not shared, nor
// are the values around them: package gotype decides which these are.
//
// Cost. Each value is encoded once, within the encoding of the value around it. An object stays
// as it is if its encoding is longer than a few megabytes, or if it is nested very deeply or in a
// circle.
//
// Concurrency. Several goroutines may use a Pass; they take turns. It reads the whole object, so
// no other goroutine may write into it.
package sharepass
