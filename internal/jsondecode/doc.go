// Package jsondecode decodes what an API server sends as JSON: lists item by
// item, the events of a watch, and single objects, untyped and of Go types.
//
// # Guarantees
//
// What comes out is what apimachinery makes of the same bytes. The common path
// is this package's own; where anything odd shows, apimachinery's decoder does
// the whole object again, and its object or its error stands. Redone counts
// these objects.
package jsondecode
