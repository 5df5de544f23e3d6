// Package gotype describes Go types to everything that walks through objects: both decoders, the pass
// that shares values after a transform, Drop, and the weigher.
//
// A [Type] has the fields of a struct with their names in JSON and their numbers in protobuf, says how
// a type decodes itself, and who writes into its values. Two tables decide what objects may share:
// rules, by type, and places, by the name of a field. Nothing else does.
//
// # Guarantees
//
// Each type is described once, and each of its descriptions is the same pointer. A description never
// changes, and is safe for any goroutine. It is kept as long as the process, as types are. [Plans] keep
// what a consumer has made of a description in the same way.
package gotype
