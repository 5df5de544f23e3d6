package indexer

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// NamespaceIndex is the name of the index by namespace, as in client-go. [Indexer.Select] and
// [Indexer.Find] use the index of this name if it exists.
const NamespaceIndex = "namespace"

// Index is a named secondary view of the store. Append appends the index values of obj (none, one
// or several) and returns the extended slice. It may also return another slice of values, even one
// that belongs to obj. Append runs under the writer's lock for every version of every object. It
// must be quick, must not keep values, and must depend only on obj. It must not write or read
// lists, which wait for the writer. Get and Len are allowed. Several stores with the same index may
// call Append at the same time.
//
// If Append panics, only this index leaves obj out (see [IndexError]), until the object's next
// version. If Append ends its goroutine (runtime.Goexit), obj is not written at all. The write
// section, or the call that adds the index, stops and releases its locks, [Options.Report] gets an
// IndexError with [ErrExited], and the goroutine ends. Earlier writes of the section remain.
// [Staging.Commit] and [Writer.AddIndexes] change nothing.
type Index[T any] struct {
	// Name must not be empty. Only client-go's indexes, which have an Origin, may have no name.
	Name   string
	Append func(values []string, obj T) []string
	// ByNamespace makes an index by the namespaces of the keys, without reading the objects. Append
	// must be nil.
	ByNamespace bool
	// Origin belongs to the caller: the value the index was made from, returned by
	// [Indexer.Definition].
	Origin any
}

// Untyped returns the index as a store takes it. It leaves out objects of another type, with
// [ErrType].
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
	// order is the index's place among all indexes that the store has ever had. A record's postings
	// are in this order.
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

// manyLists is the number of lists above which an index has too many to gather while mu is held.
const manyLists = 4096

// hasManyLists reports whether a selector for any value should read the labels of the objects
// instead. A nil index has no lists. Safe for any goroutine.
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

// add appends a record with its next object to the list of a value. It makes the list if necessary.
// Only the writer calls it.
func (x *index) add(value string, stored any, r *record) posting {
	key := x.key(r.namespace.Value(), value)
	p, n := x.values.reserve(key)
	if n == nil {
		n = newList(key, x)
		x.values.publish(p, n)
	}
	return posting{n, n.value.add(stored, r)}
}

// newList returns an empty list for an index value.
func newList(key Key, x *index) *node[vector] {
	n := newNode[vector](key)
	n.value.index = x
	return n
}

// readsObject reports whether the index function comes from the program, and so needs decoded
// objects. A label index reads the stored form.
func (x *index) readsObject() bool { return x.family == named && !x.ByNamespace }

// valuesOf returns the distinct index values of a record's object, in the memory of scratch, sorted
// if there are more than a few. It panics if the index function panics. obj may be nil if the index
// does not read objects.
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

// few is the number of index values up to which comparing all pairs is faster than sorting and
// searching. Objects with more are rare.
const few = 32

// distinct removes repeated values in place, and clears the end of the slice, as slices.Compact
// does. It sorts the values if there are more than a few.
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
	clear(values[len(kept):])
	return kept
}

func recovered(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("panic: %v", p)
}

// indexKeysOf returns the index values of a record with an object in its stored form, in the order
// of the indexes, and records failed index functions. The slice is valid until the next call. Call
// it before changing the record, because an index function may end the goroutine.
func (w *Writer) indexKeysOf(indexes []*index, r *record, stored any) []indexKey {
	keys, failures := w.callIndexes(indexes, r, stored)
	w.noteFailures(indexes, r, failures)
	return keys
}

// callIndexes calls the index functions on an object of a record, and returns the index values, in
// the order of the indexes, and the functions that failed. The slices are valid until the next call.
func (w *Writer) callIndexes(indexes []*index, r *record, stored any) ([]indexKey, []failure) {
	w.emptyScratch()
	for i := 0; i < len(indexes); {
		i = w.appendIndexKeys(indexes, i, r, stored)
	}
	return w.indexKeys, w.failures
}

// noteFailures records which index functions have failed on the next object of a record.
func (w *Writer) noteFailures(indexes []*index, r *record, failures []failure) {
	for _, ix := range indexes {
		if len(ix.unindexed) > 0 {
			delete(ix.unindexed, r.view())
		}
	}
	for _, f := range failures {
		w.failed(f.index, r.key(), f.err)
	}
}

// failure is an index and the error of its function.
type failure struct {
	index *index
	err   error
}

// appendIndexKeys appends the values for the indexes starting at from, and stops after the first
// index whose function panics. It returns the position to continue from. The end of the write
// section reports a function that ends the goroutine.
func (w *Writer) appendIndexKeys(indexes []*index, from int, r *record, stored any) (next int) {
	next = from
	defer func() {
		if p := recover(); p != nil {
			w.failures = append(w.failures, failure{indexes[next], recovered(p)})
			next++
		} else if next < len(indexes) { // no panic, and not the end: the goroutine is ending
			w.faults = append(w.faults, &IndexError{Index: indexes[next].Name, Key: r.key(), Err: ErrExited})
		}
	}()
	var obj any
	for ; next < len(indexes); next++ {
		ix := indexes[next]
		if obj == nil && ix.readsObject() {
			obj = w.x.decode.object(stored)
		}
		w.values = ix.valuesOf(w.values, r, stored, obj)
		for _, value := range w.values {
			w.indexKeys = append(w.indexKeys, indexKey{ix, value})
		}
		clear(w.values) // see emptyScratch
	}
	return next
}

func (w *Writer) failed(ix *index, key Key, err error) {
	if ix.unindexed == nil {
		ix.unindexed = make(map[Key]*IndexError)
	}
	e := &IndexError{Index: ix.Name, Key: key, Err: err}
	ix.unindexed[key] = e
	w.faults = append(w.faults, e)
}
