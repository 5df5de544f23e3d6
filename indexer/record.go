package indexer

import (
	"slices"
	"unique"
)

// record holds one object of the store, under its key.
type record = node[entry]

// entry is a record but for its key. Readers see the key, which never changes,
// and what is stored of the object, in its slot. All else is the writer's.
//
// Invariant: contents.all.owner(at) is this record, and for every post p of it
// p.list.value.owner(p.at) is this record.
type entry struct {
	slot  slot
	stamp uint64 // the caller's

	// Where the object stands in the lists of its index values: the first
	// place inline, since most objects have one, in the order of the indexes.
	list   *node[vector]
	more   *[]post
	listAt uint32

	at   uint32 // position in the list of all objects
	mark uint32 // the last replacement that held the object as it is
	part uint16 // the source that the object came from
}

// newRecord returns a record that knows its key before it is in a table.
func newRecord(key Key, stored any, stamp uint64, part uint16) *record {
	r := &record{namespace: unique.Make(key.Namespace), name: key.Name}
	r.value.slot = slotOf(stored)
	r.value.stamp, r.value.part = stamp, part
	return r
}

// stored returns what the slot holds: the object, or what a [Codec] makes of it.
func (e *entry) stored() any { return e.slot.load() }

// takeOver takes over what is the writer's in the record that this one replaces,
// which keeps the index values that it has.
func (e *entry) takeOver(before *entry) {
	e.stamp, e.part, e.mark = before.stamp, before.part, before.mark
	e.at, e.list, e.listAt = before.at, before.list, before.listAt
	if before.more != nil {
		more := slices.Clone(*before.more)
		e.more = &more
	}
}
