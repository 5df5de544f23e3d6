package indexer

import (
	"iter"
	"strings"
	"sync"
	"sync/atomic"
)

// Indexer is the read side of a store of objects with indexes. All methods are
// safe for any goroutine. The objects are shared: nobody may change them.
//
// [Indexer.Get] takes no lock. The methods that return lists may wait for the
// write section in progress, which covers some thousand changes at the most.
//
// The store itself is untyped. Methods that return objects assert the type of each,
// and leave out objects of another type; [Indexer.GetChecked] and
// [Indexer.SelectChecked] return an error for these. Len and Keys count them.
type Indexer[T any] struct{ store }

// store is what all views of one store are.
type store struct {
	live    atomic.Pointer[contents]
	version atomic.Pointer[string]
	decode  Decoder // of what the records and the lists hold
	options Options
	writer  *Writer // builds the posting lists that selectors ask for

	// writing serialises the writers and guards what is theirs alone. It comes
	// before mu.
	writing sync.Mutex
	// mu guards the lists (the vectors of live). It is held for one write
	// section, or to freeze a list.
	mu sync.Mutex
}

// View reads a store of Ts as such. It copies nothing: the view is the same store.
func View[T any](x *Indexer[any]) *Indexer[T] { return (*Indexer[T])(x) }

// typed returns a stored object as a T, and whether it is one. A nil is an any, and
// of no other type.
func typed[T any](obj any) (t T, ok bool) {
	t, ok = obj.(T)
	return t, ok || obj == nil && isAny[T]()
}

func isAny[T any]() bool {
	_, ok := any((*T)(nil)).(*any)
	return ok
}

// Options configure an indexer. The zero value is a store without indexes
// whose objects have no labels and no namespace.
type Options struct {
	Indexes []Index[any]
	// Labels and Namespace read an object's metadata, for [Indexer.Select].
	Labels    func(any) map[string]string
	Namespace func(any) string
	// Report is told of every object that an index function fails on, on the
	// writer's goroutine, with no lock held. Nil: nobody is told.
	Report func(*IndexError)
	// LabelIndexes are label keys that objects are listed by from the beginning. Others
	// get a list when selectors have asked for them repeatedly, see
	// [Indexer.LabelIndexes].
	LabelIndexes []string
	// Codec encodes what is stored. Nil: it is the objects themselves.
	Codec Codec
}

// Get returns the object of a key, false where there is none of the type. It takes
// no lock, allocates nothing and never waits.
func (x *Indexer[T]) Get(key Key) (obj T, ok bool) {
	if r := x.live.Load().records.get(key); r != nil {
		return typed[T](x.decode.Object(r.value.stored()))
	}
	return obj, false
}

// GetChecked is [Indexer.Get], but for an object of another type, of which it
// returns [ErrType] with the key and both types.
func (x *Indexer[T]) GetChecked(key Key) (obj T, ok bool, err error) {
	r := x.live.Load().records.get(key)
	if r == nil {
		return obj, false, nil
	}
	found := x.decode.Object(r.value.stored())
	if obj, ok = typed[T](found); !ok {
		err = keyedTypeError[T](key, found)
	}
	return obj, ok, err
}

// Len returns the number of objects.
func (x *store) Len() int {
	return x.live.Load().all.len()
}

// Version returns the resourceVersion that the store is at, "" before the
// first list: every change up to it is in the store.
func (x *store) Version() string {
	return *x.version.Load()
}

// Snapshot freezes the list of all objects.
func (x *Indexer[T]) Snapshot() Snapshot[T] {
	return Snapshot[T](x.frozen(func(c *contents) *vector { return c.all }))
}

// All ranges over a snapshot of all objects, in no promised order. No lock is
// held and nothing is copied.
func (x *Indexer[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { x.each(yield) }
}

func (x *Indexer[T]) each(yield func(T) bool) {
	s := x.Snapshot()
	s.each(yield)
}

// Lookup freezes the list of the objects under a value of an index, which may
// be empty. It returns [ErrUnknownIndex] where there is no such index.
func (x *Indexer[T]) Lookup(index, value string) (Snapshot[T], error) {
	if x.live.Load().index(index, named) == nil {
		return Snapshot[T]{}, unknownIndex(index)
	}
	return Snapshot[T](x.frozen(func(c *contents) *vector { return c.index(index, named).list("", value) })), nil
}

// By ranges over the objects under a value of an index, as [Indexer.Lookup]
// finds them. It panics with [ErrUnknownIndex] when it is ranged over, if there is no
// such index: where the name is not a constant, ask Lookup.
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

// Values returns the values that an index has objects under, in no promised
// order, or [ErrUnknownIndex].
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

// Keys returns the keys of all objects, in no promised order.
func (x *store) Keys() []Key {
	x.mu.Lock()
	defer x.mu.Unlock()

	return x.live.Load().all.keys()
}

// KeysBy returns the keys of the objects under a value of an index, in no
// promised order, or [ErrUnknownIndex].
func (x *store) KeysBy(index, value string) ([]Key, error) {
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

// Definition returns the index of a name as it was added.
func (x *store) Definition(name string) (definition Index[any], ok bool) {
	ix := x.live.Load().index(name, named)
	if ix == nil {
		return definition, false
	}
	return ix.Index, true
}

// Indexes returns the names of the indexes, in the order they were added.
func (x *store) Indexes() []string {
	var names []string
	for _, ix := range x.live.Load().indexes {
		if ix.family == named {
			names = append(names, ix.Name)
		}
	}
	return names
}

// frozen freezes the list that pick finds, nil for an empty one. A list that
// is frozen already, and at the version of now, is had without a lock.
func (x *store) frozen(pick func(*contents) *vector) Snapshot[any] {
	version := x.version.Load()
	if v := pick(x.live.Load()); v != nil {
		if s := v.frozen.Load(); s != nil && x.version.Load() == version {
			return s.at(version, x.decode)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()

	if v := pick(x.live.Load()); v != nil {
		return v.freeze().at(x.version.Load(), x.decode)
	}
	return Snapshot[any]{version: x.version.Load()}
}
