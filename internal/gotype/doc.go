// Package gotype describes Go types for all code that walks through objects: the two decoders, the pass
// that shares values after a transform, Drop, and the weigher.
//
// A [Type] lists the fields of a struct, with their JSON names and protobuf numbers. It says how a type
// decodes itself, and who writes into its values. Two tables decide what objects may share: rules, by
// type, and places, by field name. No other code decides this.
//
// # Guarantees
//
// Each type has one description, so descriptions can be compared by pointer. A description never
// changes. Any goroutine may use it. Descriptions are never freed, like the types themselves. [Plans]
// keep what a consumer derives from a description in the same way.
package gotype
