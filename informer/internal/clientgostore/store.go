package clientgostore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Store presents a store as client-go's Indexer. Its writes take turns with other writers.
type Store struct {
	// Gauge publishes the store's version.
	Gauge atomic.Pointer[Gauge]

	writer  *indexer.Writer
	keyFunc cache.KeyFunc
	parse   func(string) indexer.Key
	// metaKeys is set if the keys are the objects' namespaces and names.
	metaKeys bool
	writes   Writes
}

// Writes are the writes into a store.
type Writes interface {
	// Check returns the stored form of an object.
	Check(obj any) (any, error)
	// Begin begins a write section.
	Begin() *indexer.Tx
	// Apply makes one write.
	Apply(tx *indexer.Tx, w Write)
	// Reach moves the store's version forward, as each write of client-go's store does. The version never
	// goes back.
	Reach(tx *indexer.Tx, version string)
	// Version returns the store's version.
	Version() string
	// Faults returns the errors of index functions in a section. The objects are stored even so. It returns
	// nil if the errors are reported instead.
	Faults(tx *indexer.Tx) error
	// ReplaceAll makes the store hold exactly the objects of the writes.
	ReplaceAll(writes []Write, version string)
}

var _ interface {
	cache.Indexer
	cache.TransactionStore
} = (*Store)(nil)

// New returns client-go's view of an informer's store.
func New(writer *indexer.Writer, writes Writes) *Store {
	return &Store{writer: writer, keyFunc: cache.DeletionHandlingMetaNamespaceKeyFunc, parse: indexer.ParseKey, metaKeys: true, writes: writes}
}

// Add stores an object.
func (s *Store) Add(obj any) error { return s.writeOne(cache.TransactionTypeAdd, obj) }

// Update stores an object.
func (s *Store) Update(obj any) error { return s.writeOne(cache.TransactionTypeUpdate, obj) }

// Delete deletes an object.
func (s *Store) Delete(obj any) error { return s.writeOne(cache.TransactionTypeDelete, obj) }

func (s *Store) writeOne(kind cache.TransactionType, obj any) error {
	w, err := s.prepare(cache.Transaction{Type: kind, Object: obj})
	if err != nil {
		return err
	}
	s.section(func(tx *indexer.Tx) {
		s.writes.Apply(tx, w)
		err = s.writes.Faults(tx)
	})
	return err
}

// section makes writes in one section.
func (s *Store) section(write func(tx *indexer.Tx)) {
	defer s.publish()
	tx := s.writes.Begin()
	defer tx.Commit()
	write(tx)
}

// Transaction makes several writes in one section. Objects without a key, or of another type, are left out
// and reported. A transaction of an unknown type writes nothing and succeeds, as in client-go.
func (s *Store) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	failed := cache.TransactionError{TotalTransactions: len(txns), SuccessfulIndices: make([]int, 0, len(txns))}
	prepared := make([]Write, 0, len(txns))
	for i, txn := range txns {
		w, err := s.prepare(txn)
		if err != nil {
			failed.Errors = append(failed.Errors, err)
			continue
		}
		failed.SuccessfulIndices = append(failed.SuccessfulIndices, i)
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete:
			prepared = append(prepared, w)
		}
	}
	s.section(func(tx *indexer.Tx) {
		for _, w := range prepared {
			s.writes.Apply(tx, w)
		}
	})
	if len(failed.Errors) > 0 {
		return &failed
	}
	return nil
}

// Write is a prepared write.
type Write struct {
	Key     indexer.Key
	Object  any
	Version string
	Remove  bool
}

func (s *Store) prepare(txn cache.Transaction) (w Write, err error) {
	key, err := s.keyOf(txn.Object)
	if err != nil {
		return w, err
	}
	w = Write{Key: key, Version: object.IdentityOf(key, txn.Object).Version, Remove: txn.Type == cache.TransactionTypeDelete}
	if !w.Remove {
		w.Object, err = s.writes.Check(txn.Object)
	}
	return w, err
}

// publish passes the version to the metrics.
func (s *Store) publish() { s.Gauge.Load().Set(s.writes.Version()) }

// Replace makes the store hold exactly the objects of a list. If an object has no key or is of another type,
// Replace changes nothing.
func (s *Store) Replace(list []any, version string) error {
	writes := make([]Write, 0, len(list))
	for _, obj := range list {
		w, err := s.prepare(cache.Transaction{Object: obj})
		if err != nil {
			return err
		}
		writes = append(writes, w)
	}
	defer s.publish()
	s.writes.ReplaceAll(writes, version)
	return nil
}

// Resync does nothing, as in client-go's store: the informer resyncs the handlers.
func (s *Store) Resync() error { return nil }

// Bookmark moves the store's version forward.
func (s *Store) Bookmark(version string) {
	s.section(func(tx *indexer.Tx) { s.writes.Reach(tx, version) })
}

// LastStoreSyncResourceVersion returns the store's version.
func (s *Store) LastStoreSyncResourceVersion() string { return s.writes.Version() }

// List returns all objects.
func (s *Store) List() []any { return anys(s.writer.Indexer().Snapshot()) }

// ListKeys returns all keys.
func (s *Store) ListKeys() []string { return spell(s.writer.Indexer().Keys()) }

// Get returns the stored object of the key of obj.
func (s *Store) Get(obj any) (item any, exists bool, err error) {
	key, err := s.keyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return s.GetByKey(key)
}

// GetByKey returns the object of a key.
func (s *Store) GetByKey(key string) (item any, exists bool, err error) {
	x := s.writer.Indexer()
	obj, ok := x.Get(s.parse(key))
	if !ok && s.metaKeys {
		obj, ok = x.Get(indexer.Key{Name: key}) // a cluster-scoped object may have a slash in its name
	}
	if !ok {
		return nil, false, nil
	}
	return obj, true, nil
}

// keyOf returns the key of an object or a tombstone. If the keys are namespaces and names, it reads them from
// the metadata, because a name may contain a slash.
func (s *Store) keyOf(obj any) (indexer.Key, error) {
	if s.metaKeys {
		if m := object.Meta(obj); m != nil {
			return object.Key(m), nil
		}
	}
	key, err := s.keyFunc(obj)
	if err != nil {
		return indexer.Key{}, cache.KeyError{Obj: obj, Err: err}
	}
	if whole := (indexer.Key{Name: key}); s.metaKeys {
		if _, stored := s.writer.Stored(whole); stored {
			return whole, nil
		}
	}
	return s.parse(key), nil
}

// Index returns the objects that share a value of an index with obj. obj may have another type than the
// store's objects: generated listers pass an ObjectMeta.
func (s *Store) Index(name string, obj any) ([]any, error) {
	f := s.indexFunc(name)
	if f == nil {
		return nil, noIndex(name)
	}
	if m := object.Meta(obj); m != nil && isMetaNamespace(f) { // almost always
		return s.ByIndex(name, m.GetNamespace())
	}
	values, err := f(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return s.ByIndex(name, values[0])
	}
	queries := make([]indexer.Query, len(values))
	for i, value := range values {
		queries[i].Fields = map[string]string{name: value}
	}
	found, err := s.writer.Indexer().Find(queries...)
	if err != nil {
		return nil, noIndex(name)
	}
	return anys(found), nil
}

// indexFunc returns the function of an index, or nil if there is no such index. If the index was not made
// from an IndexFunc, indexFunc wraps it in one.
func (s *Store) indexFunc(name string) cache.IndexFunc {
	ix, ok := s.writer.Indexer().Definition(name)
	if f, made := ix.Origin.(cache.IndexFunc); made {
		return f
	}
	switch {
	case !ok:
		return nil
	case ix.ByNamespace:
		return cache.MetaNamespaceIndexFunc
	}
	return func(obj any) (values []string, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("index %q: %v", name, p)
			}
		}()
		return ix.Append(nil, obj), nil
	}
}

// ByIndex returns the objects with a value in an index.
func (s *Store) ByIndex(name, value string) ([]any, error) {
	snapshot, err := s.writer.Indexer().Lookup(name, value)
	if err != nil {
		return nil, noIndex(name)
	}
	return anys(snapshot), nil
}

// IndexKeys returns the keys of the objects with a value in an index, sorted.
func (s *Store) IndexKeys(name, value string) ([]string, error) {
	keys, err := s.writer.Indexer().FindKeys(indexer.Query{Fields: map[string]string{name: value}})
	if err != nil {
		return nil, noIndex(name)
	}
	sorted := spell(keys)
	slices.Sort(sorted)
	return sorted, nil
}

// ListIndexFuncValues returns the values of an index.
func (s *Store) ListIndexFuncValues(name string) []string {
	values, err := s.writer.Indexer().Values(name)
	if err != nil {
		return []string{}
	}
	return values
}

// GetIndexers returns the functions of all indexes, in a new map.
func (s *Store) GetIndexers() cache.Indexers {
	all := make(cache.Indexers)
	for _, name := range s.writer.Indexer().Indexes() {
		all[name] = s.indexFunc(name)
	}
	return all
}

// AddIndexers adds indexes.
func (s *Store) AddIndexers(ix cache.Indexers) error {
	return s.writer.AddIndexes(Indexes(ix, s.metaKeys)...)
}

// Indexes makes indexes from client-go's index functions, in the order of their names. If keys are made from
// the metadata, the index by namespace reads only the keys.
func Indexes(ix cache.Indexers, metaKeys bool) (indexes []indexer.Index[any]) {
	for _, name := range slices.Sorted(maps.Keys(ix)) {
		made := indexer.Index[any]{Name: name, Origin: ix[name]}
		if metaKeys && isMetaNamespace(ix[name]) {
			made.ByNamespace = true
		} else {
			made.Append = appendOf(ix[name])
		}
		indexes = append(indexes, made)
	}
	return indexes
}

// appendOf adapts an IndexFunc. An error becomes a panic, which the indexer reports as an error.
func appendOf(f cache.IndexFunc) func([]string, any) []string {
	if f == nil {
		return nil
	}
	return func(values []string, obj any) []string {
		found, err := f(obj)
		if err != nil {
			panic(err)
		}
		return append(values, found...)
	}
}

// isMetaNamespace reports whether f is MetaNamespaceIndexFunc, the usual function.
func isMetaNamespace(f cache.IndexFunc) bool {
	return f != nil && reflect.ValueOf(f).Pointer() == reflect.ValueOf(cache.MetaNamespaceIndexFunc).Pointer()
}

// isMetaKey reports whether f is one of client-go's key functions for namespaces and names, as in most
// stores.
func isMetaKey(f cache.KeyFunc) bool {
	at := reflect.ValueOf(f).Pointer()
	return at == reflect.ValueOf(cache.MetaNamespaceKeyFunc).Pointer() || at == reflect.ValueOf(cache.DeletionHandlingMetaNamespaceKeyFunc).Pointer()
}

func noIndex(name string) error {
	return fmt.Errorf("Index with name %s does not exist: %w", name, indexer.ErrUnknownIndex) // client-go's text
}

// anys returns the objects of a snapshot in a slice that, as in client-go, is never nil.
func anys(s indexer.Snapshot[any]) []any {
	if all := s.List(); all != nil {
		return all
	}
	return []any{}
}

func spell(keys []indexer.Key) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.String()
	}
	return names
}
