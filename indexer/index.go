package indexer

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// NamespaceIndex is the name of the index by namespace, as in client-go. [Indexer.Select] and [Indexer.Find] use
// the index of this name, if there is one.
const NamespaceIndex = "namespace"

// Index is a named secondary view of the store. Append appends the index values of obj (none,
// one or several) and returns the longer slice, or returns another slice of values, which may
// belong to obj. It runs under the writer's lock for every version of every object: it must be
// quick, must not keep values, and must depend on nothing but obj. It must not write, nor ask for
// lists, which wait for the writer; Get and Len do not. Several stores with the same index call it at
// once.
//
// If Append panics, obj is missing from this index, and from this index only (see [IndexError]),
// until the object's next version. If Append ends its goroutine (runtime.Goexit), obj is not
// written at all: the write section, or the call that adds the index, is broken off and frees its
// locks, [Options.Report] gets an IndexError with [ErrExited], and the goroutine ends. The objects
// that a section has written before stay written; [Staging.Commit] and [Writer.AddIndexes] change
// nothing.
type Index[T any] struct {
	// Name must not be empty; only client-go's indexes, which have an Origin, may have no name.
	Name   string
	Append func(values []string, obj T) []string
	// ByNamespace makes an index by the namespaces of the keys, without looking at the objects.
	// Append is nil then.
	ByNamespace bool
	// Origin belongs to the caller: the value the index was made from, returned by
	// [Indexer.Definition].
	Origin any
}

// Untyped returns the index in the form a store takes. It leaves out objects of another type,
// with [ErrType].
func (ix Index[T]) Untyped() Index[any] {
	untyped := Index[any]{Name: ix.Name, ByNamespace: ix.ByNamespace, Origin: ix.Origin}
	if ix.Append == nil {
		return untyped
	}
	untyped.Append = func(values []string, obj any) []string {
		t, ok := obj.(T)
		if !ok {
			panic(typeError[T](obj))
		}
		return ix.Append(values, t)
	}
	return untyped
}

// valid allows an index without a name only to client-go's, which are known by their Origin.
func (ix *Index[T]) valid() bool {
	return (ix.Name != "" || ix.Origin != nil) && (ix.Append != nil) != ix.ByNamespace
}

// family is the purpose of an index.
type family uint8

const (
	named     family = iota // added by a user
	byLabel                 // one list for each value of a label key
	byLabelIn               // one list for each namespace and value of a label key
)

// index is one index of a store: a list of objects for each value. The posting lists of label
// keys, which selectors use, are indexes too.
type index struct {
	Index[any]
	family
	// declared marks the index of a label key in [Options.LabelIndexes].
	declared bool
	// order is the index's place among all that the store has ever had; a record's postings are in
	// this order.
	order int
	// asked is set when a selector uses the index of a label key, and reset by dropLabelIndexes.
	asked  atomic.Bool
	values *table[vector]
	// unindexed holds the objects on which Append failed. Only the writer reads or writes it.
	unindexed map[Key]*IndexError
}

func newIndex(ix Index[any], f family) *index {
	return &index{Index: ix, family: f, values: newTable[vector](0)}
}

// empty returns a copy of the index without objects.
func (x *index) empty() *index {
	e := newIndex(x.Index, x.family)
	e.declared, e.order = x.declared, x.order
	e.asked.Store(x.asked.Load())
	return e
}

// key returns the key of a value's list. The namespace is part of it only in a byLabelIn index.
func (x *index) key(namespace, value string) Key {
	if x.family == byLabelIn {
		return Key{namespace, value}
	}
	return Key{Name: value}
}

// list returns the list of a value, or nil. Only a byLabelIn index looks at the namespace. Safe
// for any goroutine.
func (x *index) list(namespace, value string) *vector {
	if n := x.values.get(x.key(namespace, value)); n != nil {
		return &n.value
	}
	return nil
}

// manyLists is the number of lists above which all of an index are too many to be gathered while mu is held.
const manyLists = 4096

// hasManyLists reports whether a selector for any value is to look at the labels of the objects instead. A nil
// index has no lists. Safe for any goroutine.
func (x *index) hasManyLists() bool {
	n := 0
	if x != nil {
		for range x.values.all {
			if n++; n > manyLists {
				return true
			}
		}
	}
	return false
}

// add appends a record with its next object to the list of a value, and makes the list if there is
// none. Only the writer calls it.
func (x *index) add(value string, stored any, r *record) post {
	key := x.key(r.namespace.Value(), value)
	p, n := x.values.reserve(key)
	if n == nil {
		n = newList(key, x)
		x.values.publish(p, n)
	}
	return post{n, n.value.add(stored, r)}
}

// newList returns an empty list for an index value.
func newList(key Key, x *index) *node[vector] {
	n := newNode[vector](key)
	n.value.index = x
	return n
}

// readsObject reports whether the index function is a user's, which gets objects decoded. That of a
// label reads the stored form.
func (x *index) readsObject() bool { return x.family == named && !x.ByNamespace }

// valuesOf returns the distinct index values of a record's object, in the memory of scratch, and
// sorted if they are more than a few. It panics if the index function does. An index that does not read
// objects takes obj as nil.
func (x *index) valuesOf(scratch []string, r *record, stored, obj any) []string {
	scratch = scratch[:0]
	if x.ByNamespace {
		return append(scratch, r.namespace.Value())
	}
	if !x.readsObject() {
		obj = stored
	}
	// The function may return a slice that belongs to the object and must not be written: copy
	// the values.
	values := append(scratch, x.Append(scratch, obj)...)
	if len(values) > 1 {
		values = distinct(values)
	}
	return values
}

// few is the number of index values up to which each is compared with each, which is quicker than
// sorting and searching. An object with more is rare; its author decides how many.
const few = 32

// distinct removes repeated values, in place. It sorts more than a few.
func distinct(values []string) []string {
	if len(values) > few {
		slices.Sort(values)
		return slices.Compact(values)
	}
	kept := values[:0]
next:
	for _, v := range values {
		for _, k := range kept {
			if k == v {
				continue next
			}
		}
		kept = append(kept, v)
	}
	return kept
}

func recovered(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("panic: %v", p)
}
