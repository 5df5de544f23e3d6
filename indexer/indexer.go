package indexer

import (
	"iter"
	"strings"
	"sync"
	"sync/atomic"
)

// Indexer is the read side of an indexed store. All methods are safe for any goroutine. Programs
// share the objects and must not change them.
//
// [Indexer.Get] takes no lock. Methods that return lists may wait for the write section in
// progress, which makes at most a few thousand changes. The reads of a goroutine never go back: a
// later read never shows an older version.
//
// The store itself is untyped. Methods that return objects assert the type of each and leave out
// objects of another type. [GetChecked] and [SelectChecked] return an error for these. Len and Keys
// include them.
type Indexer[T any] struct{ store }

// store is the untyped store, shared by all its views.
type store struct {
	live    atomic.Pointer[contents]
	version atomic.Pointer[string]
	decode  decoder // nil: the store holds the objects themselves
	options Options
	writer  *Writer // builds the label indexes for selectors

	// writing serializes the writers and guards their private state. Lock order: writing before mu.
	writing sync.Mutex
	// mu guards the lists (the vectors of live). A goroutine holds it for a write section, or to
	// take a snapshot of a list.
	mu sync.Mutex
}

// View reads a store as a store of Ts. It copies nothing: the view is the same store.
func View[T any](x *Indexer[any]) *Indexer[T] { return (*Indexer[T])(x) }

// typed returns a stored object as a T, and whether it has that type. A nil object has only the
// type any.
func typed[T any](obj any) (t T, ok bool) {
	t, ok = obj.(T)
	return t, ok || obj == nil && isAny[T]()
}

// read returns an object, given in its stored form, as a T. It returns false for an object of
// another type, or if it cannot be decoded.
func read[T any](decode decoder, stored any) (t T, ok bool) {
	if decode == nil {
		return typed[T](stored)
	}
	obj := decode(stored)
	if obj == nil {
		return t, false
	}
	return typed[T](obj)
}

func isAny[T any]() bool {
	_, ok := any((*T)(nil)).(*any)
	return ok
}

// Options configure an indexer. The zero value means no indexes, no labels and no namespaces.
type Options struct {
	Indexes []Index[any]
	// Labels and Namespace read the metadata of an object in its stored form, for [Indexer.Select].
	Labels    func(any) map[string]string
	Namespace func(any) string
	// Report, unless nil, gets each object on which an index function fails. It runs on the
	// writer's goroutine, without locks.
	Report func(*IndexError)
	// LabelIndexes are the label keys to index from the beginning. Other keys get an index after
	// selectors have used them several times, see [Indexer.Select].
	LabelIndexes []string
	// Codec encodes the objects. If it is nil, the store has the objects themselves.
	Codec Codec
}

// Get returns the object of a key, or false if there is no object of type T. It takes no lock and
// never waits. It allocates nothing unless a [Codec] decodes the object.
func (x *Indexer[T]) Get(key Key) (obj T, ok bool) {
	if r := x.live.Load().records.get(key); r != nil {
		return read[T](x.decode, r.value.stored())
	}
	return obj, false
}

// GetChecked is [Indexer.Get] of a typed view. For an object of another type it returns [ErrType],
// with the key and both types.
func GetChecked[T any](x *Indexer[any], key Key) (obj T, ok bool, err error) {
	r := x.live.Load().records.get(key)
	if r == nil {
		return obj, false, nil
	}
	found := x.decode.object(r.value.stored())
	if found == nil && x.decode != nil { // it cannot be decoded
		return obj, false, nil
	}
	if obj, ok = typed[T](found); !ok {
		err = keyedTypeError[T](key, found)
	}
	return obj, ok, err
}

// Len returns the number of objects. It takes no lock, and includes a write in progress: Get may
// show the same write a moment later.
func (x *store) Len() int {
	return x.live.Load().all.len()
}

// Version returns the store's resourceVersion, or "" before the first list. The store has every
// change up to it.
func (x *store) Version() string {
	return *x.version.Load()
}

// Snapshot returns the current list of all objects.
func (x *Indexer[T]) Snapshot() Snapshot[T] {
	return Snapshot[T](x.snapshotOf(func(c *contents) *vector { return c.all }))
}

// All ranges over a snapshot of all objects, in no particular order. It holds no lock and copies
// nothing.
func (x *Indexer[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { x.each(yield) }
}

func (x *Indexer[T]) each(yield func(T) bool) {
	s := x.Snapshot()
	s.each(yield)
}

// Lookup returns the current list of the objects under an index value, which may be empty. It
// returns [ErrUnknownIndex] if the index does not exist.
func (x *Indexer[T]) Lookup(index, value string) (Snapshot[T], error) {
	if x.live.Load().index(index, named) == nil {
		return Snapshot[T]{}, unknownIndex(index)
	}
	return Snapshot[T](x.snapshotOf(func(c *contents) *vector { return c.index(index, named).list("", value) })), nil
}

// By ranges over the objects under an index value, as [Indexer.Lookup] finds them. Ranging panics
// with [ErrUnknownIndex] if the index does not exist. Use Lookup if the name is not a constant.
func (x *Indexer[T]) By(index, value string) iter.Seq[T] {
	return func(yield func(T) bool) { x.eachBy(index, value, yield) }
}

func (x *Indexer[T]) eachBy(index, value string, yield func(T) bool) {
	s, err := x.Lookup(index, value)
	if err != nil {
		panic(err)
	}
	s.each(yield)
}

// Values returns all values of an index that have objects, in no particular order, or
// [ErrUnknownIndex].
func (x *store) Values(index string) ([]string, error) {
	ix := x.live.Load().index(index, named)
	if ix == nil {
		return nil, unknownIndex(index)
	}
	x.mu.Lock()
	defer x.mu.Unlock()

	ix = x.live.Load().index(index, named)
	values := make([]string, 0, ix.values.live)
	for n := range ix.values.all {
		values = append(values, strings.Clone(n.name()))
	}
	return values, nil
}

// Keys returns the keys of all objects, in no particular order.
func (x *store) Keys() []Key {
	x.mu.Lock()
	defer x.mu.Unlock()

	return x.live.Load().all.keys()
}

// keysBy returns the keys of the objects under an index value, in no particular order, or
// [ErrUnknownIndex].
func (x *store) keysBy(index, value string) ([]Key, error) {
	x.mu.Lock()
	defer x.mu.Unlock()

	ix := x.live.Load().index(index, named)
	if ix == nil {
		return nil, unknownIndex(index)
	}
	if v := ix.list("", value); v != nil {
		return v.keys(), nil
	}
	return nil, nil
}

// Definition returns an index as it was added.
func (x *store) Definition(name string) (definition Index[any], ok bool) {
	ix := x.live.Load().index(name, named)
	if ix == nil {
		return definition, false
	}
	return ix.Index, true
}

// Indexes returns the names of the added indexes, in their order.
func (x *store) Indexes() []string {
	var names []string
	for _, ix := range x.live.Load().indexes {
		if ix.family == named {
			names = append(names, ix.Name)
		}
	}
	return names
}

// snapshotOf returns a snapshot of the list that pick finds. Nil means an empty list. It takes no
// lock if the list has a cached snapshot and the version has not changed meanwhile.
func (x *store) snapshotOf(pick func(*contents) *vector) Snapshot[any] {
	version := x.version.Load()
	if v := pick(x.live.Load()); v != nil {
		if s := v.cached.Load(); s != nil && x.version.Load() == version {
			return x.list(s, version)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()

	if v := pick(x.live.Load()); v != nil {
		return x.list(v.snapshot(), x.version.Load())
	}
	return Snapshot[any]{version: x.version.Load()}
}
