package cache

import (
	"k8s.io/client-go/tools/cache"
)

// Store is client-go's type of that name.
type Store = cache.Store

// Indexer is client-go's type of that name.
type Indexer = cache.Indexer

// IndexFunc is client-go's type of that name.
type IndexFunc = cache.IndexFunc

// Indexers is client-go's type of that name.
type Indexers = cache.Indexers

// Indices is client-go's type of that name.
type Indices = cache.Indices

// KeyFunc is client-go's type of that name.
type KeyFunc = cache.KeyFunc

// KeyError is client-go's type of that name.
type KeyError = cache.KeyError

// ExplicitKey is client-go's type of that name.
type ExplicitKey = cache.ExplicitKey

// ObjectName is client-go's type of that name.
type ObjectName = cache.ObjectName

// DeletedFinalStateUnknown is client-go's type of that name.
type DeletedFinalStateUnknown = cache.DeletedFinalStateUnknown

// Transaction is client-go's type of that name.
type Transaction = cache.Transaction

// TransactionType is client-go's type of that name.
type TransactionType = cache.TransactionType

// TransactionError is client-go's type of that name.
type TransactionError = cache.TransactionError

// TransactionStore is client-go's type of that name.
type TransactionStore = cache.TransactionStore

// ThreadSafeStore is client-go's type of that name.
type ThreadSafeStore = cache.ThreadSafeStore

// ThreadSafeStoreTransaction is client-go's type of that name.
type ThreadSafeStoreTransaction = cache.ThreadSafeStoreTransaction

// ThreadSafeStoreWithTransaction is client-go's type of that name.
type ThreadSafeStoreWithTransaction = cache.ThreadSafeStoreWithTransaction

// GenericLister is client-go's type of that name.
type GenericLister = cache.GenericLister

// GenericNamespaceLister is client-go's type of that name.
type GenericNamespaceLister = cache.GenericNamespaceLister

// AppendFunc is client-go's type of that name.
type AppendFunc = cache.AppendFunc

// UndeltaStore is client-go's type of that name.
type UndeltaStore = cache.UndeltaStore

// FakeCustomStore is client-go's type of that name.
type FakeCustomStore = cache.FakeCustomStore

// MutationCache is client-go's type of that name.
type MutationCache = cache.MutationCache

// MutationCacheOptions is client-go's type of that name.
type MutationCacheOptions = cache.MutationCacheOptions

// ResourceVersionComparator is client-go's type of that name.
type ResourceVersionComparator = cache.ResourceVersionComparator

// ResourceVersionUpdater is client-go's type of that name.
type ResourceVersionUpdater = cache.ResourceVersionUpdater

// TypedIndexer is client-go's type of that name.
type TypedIndexer[T any] = cache.TypedIndexer[T]

// TypedIndexFunc is client-go's type of that name.
type TypedIndexFunc[T any] = cache.TypedIndexFunc[T]

// TypedIndexers is client-go's type of that name.
type TypedIndexers[T any] = cache.TypedIndexers[T]
