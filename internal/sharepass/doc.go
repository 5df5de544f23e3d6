// Package sharepass makes objects share equal values after a transform has run.
//
// If there is a transform, which may write into a decoded object, the decoder shares only strings. After
// the transform, a [Pass] walks through the object, and replaces its values by equal values of a
// [share.Table].
//
// # Guarantees
//
// Equality. A pass does not change the content of an object. reflect.DeepEqual, which distinguishes nil
// from empty, confirms it. The pass does not share values that it cannot encode without loss: interfaces
// in typed objects, structs with unexported fields, big or addressable Quantities, times with a
// monotonic reading, and times in a location other than time.UTC and time.Local. It also does not share
// structs with fields that JSON ignores.
//
// Foreign memory. A transform may have passed the object to other code, or added references to its own
// memory. Therefore the pass does not write into anything that the transform has seen. It returns a copy
// of the object with the shared parts, and copies each slice, map or struct that contains a shared part.
// The table keeps only complete copies. An object with unexported fields stays as it is.
//
// Written values. The pass does not share values that programs often write into, although they must not,
// nor the values that contain them. Package gotype decides which values these are.
//
// Cost. Each value is encoded once, as part of the value that contains it. An object stays as it is if
// its encoding is longer than a few megabytes, or if it is nested very deeply or contains itself.
//
// Concurrency. Several goroutines may use a Pass, which serves one at a time. It reads the whole object,
// so no other goroutine may write into the object.
package sharepass
