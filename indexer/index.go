package indexer

import "fmt"

// NamespaceIndex is the name under which an index by namespace is kept, as in
// client-go. [Indexer.Select] uses the index of this name, if there is one.
const NamespaceIndex = "namespace"

// Index is a named secondary view: Append appends the values that obj is to
// be found under (none, one or several) and returns the longer slice. It runs
// under the writer's lock for every version of every object, so it must be
// quick, must not keep values, and must not call the indexer. It depends on
// nothing but obj.
//
// An Append that panics leaves obj out of this index, and out of this index
// only (see [IndexError]); it is asked again with the object's next version.
type Index[T any] struct {
	Name   string
	Append func(values []string, obj T) []string
	// ByNamespace makes an index by the namespaces of the keys, for which no
	// object has to be looked at. Append is nil then.
	ByNamespace bool
}

func (ix *Index[T]) valid() bool { return ix.Name != "" && (ix.Append != nil) != ix.ByNamespace }

// index is one index as it is kept: a list of objects for each value. The
// posting lists for the label keys that selectors ask for are indexes too.
type index[T any] struct {
	Index[T]
	label bool // Name is a label key
	// refused marks the index of a label key that is almost unique, or of one
	// too many: it is kept empty and answers nothing.
	refused bool
	values  *table[vector[T]]
	// broken holds the keys that Append failed on. The writer's own.
	broken map[Key]struct{}
}

func newIndex[T any](ix Index[T], label bool) *index[T] {
	return &index[T]{Index: ix, label: label, values: newTable[vector[T]](0)}
}

// empty returns the same index with nothing in it.
func (x *index[T]) empty() *index[T] {
	e := newIndex(x.Index, x.label)
	e.refused = x.refused
	return e
}

// list returns the list of value, or nil. Safe for any goroutine.
func (x *index[T]) list(value string) *node[vector[T]] {
	return x.values.get(Key{Name: value})
}

// vector returns the list of value, or nil. Safe for any goroutine.
func (x *index[T]) vector(value string) *vector[T] {
	if n := x.list(value); n != nil {
		return &n.value
	}
	return nil
}

// listFor returns the list of value, made if there is none. The writer's.
func (x *index[T]) listFor(value string) *node[vector[T]] {
	if n := x.list(value); n != nil {
		return n
	}
	n := new(node[vector[T]])
	n.value.index = x
	x.values.put(Key{Name: value}, n)
	return n
}

// valuesOf appends the values of a record to buf, each once. A panic of the
// index function is returned as an error.
func (x *index[T]) valuesOf(buf []string, r *node[entry[T]]) (values []string, err error) {
	if x.ByNamespace {
		return append(buf, r.namespace.Value()), nil
	}
	return x.called(buf, r.value.object)
}

func (x *index[T]) called(buf []string, obj T) (values []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			values, err = buf, recovered(p)
		}
	}()
	values = x.Append(buf, obj)
	if len(values)-len(buf) > 1 {
		values = distinct(values, len(buf))
	}
	return values, nil
}

// distinct drops the repetitions from values[from:]. The lists are short.
func distinct(values []string, from int) []string {
	kept := values[:from]
next:
	for _, v := range values[from:] {
		for _, k := range kept[from:] {
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
