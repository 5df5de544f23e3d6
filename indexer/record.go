package indexer

import (
	"math"
	"unique"
)

// entry is what the store holds of one version of one object, in the node of
// its key: a record. Readers see the key and the object, which never change; an
// update stores another record. All else is the writer's, and moves on to the
// next record.
//
// (A generic alias would name node[entry[T]]; the compiler of Go 1.26 fails on
// it where other packages instantiate this one.)
//
// Invariant: contents.all.owner(at) is this record, and for every post p of it
// p.list.value.owner(p.at) is this record.
type entry[T any] struct {
	object T
	stamp  uint64 // the caller's

	// Where the object stands in the lists of its index values: the first
	// place inline, since most objects have one, in the order of the indexes.
	list   *node[vector[T]]
	more   *[]post[T]
	listAt uint32

	at   uint32 // position in the list of all objects
	mark uint32 // the last full state that held the object
	part uint16 // the source that the object came from
}

// samePart stands for the part of the record that is replaced, 0 if there is
// none, until the record is stored.
const samePart = math.MaxUint16

func (e *entry[T]) settlePart(old *node[entry[T]]) {
	switch {
	case e.part != samePart:
	case old == nil:
		e.part = 0
	default:
		e.part = old.value.part
	}
}

// newRecord returns a record that knows its key before it is in a table.
func newRecord[T any](key Key, e entry[T]) *node[entry[T]] {
	return &node[entry[T]]{unique.Make(key.Namespace), key.Name, e}
}
