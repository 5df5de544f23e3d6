package indexer

import (
	"fmt"
)

// NamespaceIndex is the name under which an index by namespace is kept, as in
// client-go. [Indexer.Select] uses the index of this name, if there is one.
const NamespaceIndex = "namespace"

// Index is a named secondary view: Append appends the values that obj is to
// be found under (none, one or several) and returns the longer slice, or
// returns another slice that holds them, which may be one of obj's own. It runs
// under the writer's lock for every version of every object, so it must be
// quick, must not keep values, and must not call the indexer. It depends on
// nothing but obj.
//
// An Append that panics, or ends its goroutine, leaves obj out of this index, and
// out of this index only (see [IndexError]); it is asked again with the object's
// next version. A goroutine of the caller's that it ends does end, after the write
// section; from then on the Append is called on a goroutine of its own.
type Index[T any] struct {
	Name   string
	Append func(values []string, obj T) []string
	// ByNamespace makes an index by the namespaces of the keys, for which no
	// object has to be looked at. Append is nil then.
	ByNamespace bool
	// Origin is the caller's: what the index was made from, for whoever asks for its
	// [Indexer.Definition].
	Origin any
}

// Untyped returns the index as a store takes it. An object of another type is
// left out of it, with [ErrType].
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

func (ix *Index[T]) valid() bool { return ix.Name != "" && (ix.Append != nil) != ix.ByNamespace }

// family says what an index is for.
type family uint8

const (
	named     family = iota // what users have added
	byLabel                 // a list for each value of a label key
	byLabelIn               // a list for each value of a label key in each namespace
)

// index is one index as it is kept: a list of objects for each value. The
// posting lists for the label keys that selectors ask for are indexes too.
type index struct {
	Index[any]
	family
	// declared marks the index of a label key that the user has asked for, and
	// disabledAt one that is almost unique: how many objects there were then.
	declared   bool
	disabledAt int
	// apart says that Append has ended its goroutine, and gets one of its own.
	apart  bool
	values *table[vector]
	// broken holds the keys that Append failed on. The writer's own.
	broken map[Key]struct{}
}

func newIndex(ix Index[any], f family) *index {
	return &index{Index: ix, family: f, values: newTable[vector](0)}
}

// empty returns the same index with nothing in it.
func (x *index) empty() *index {
	e := newIndex(x.Index, x.family)
	e.declared, e.disabledAt, e.apart = x.declared, x.disabledAt, x.apart
	return e
}

// key is that of the list of a value, of objects of a namespace.
func (x *index) key(namespace, value string) Key {
	if x.family == byLabelIn {
		return Key{namespace, value}
	}
	return Key{Name: value}
}

// list returns the list of a value, or nil. Which namespace it is about
// matters only where there is a list for each. Safe for any goroutine.
func (x *index) list(namespace, value string) *vector {
	if n := x.values.get(x.key(namespace, value)); n != nil {
		return &n.value
	}
	return nil
}

// add puts a record into the list of a value, made if there is none. The
// writer's.
func (x *index) add(value string, r *record) post {
	key := x.key(r.namespace.Value(), value)
	p, n := x.values.seek(key)
	if n == nil {
		n = newList(key, x)
		x.values.fill(p, n)
	}
	return post{n, n.value.add(r.value.stored(), r)}
}

// newList returns the list of an index value.
func newList(key Key, x *index) *node[vector] {
	n := newNode[vector](key)
	n.value.index = x
	return n
}

// valuesOf returns the values of a record with an object, each once, in the memory
// of scratch. It panics where the index function does.
func (x *index) valuesOf(scratch []string, r *record, obj any) []string {
	scratch = scratch[:0]
	if x.ByNamespace {
		return append(scratch, r.namespace.Value())
	}
	// The function may return a slice of the object's own, which is not to be
	// written: the values are copied.
	values := append(scratch, x.Append(scratch, obj)...)
	if len(values) > 1 {
		values = distinct(values)
	}
	return values
}

// few is the number of index values of one object up to which looking through
// them is quicker than a map. More are rare, and up to whoever writes the object.
const few = 32

// distinct drops the repetitions from values.
func distinct(values []string) []string {
	if len(values) > few {
		return distinctMany(values)
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

func distinctMany(values []string) []string {
	seen := make(map[string]struct{}, len(values))
	kept := values[:0]
	for _, v := range values {
		if _, again := seen[v]; !again {
			seen[v] = struct{}{}
			kept = append(kept, v)
		}
	}
	return kept
}

func recovered(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("panic: %v", p)
}
