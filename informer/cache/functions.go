package cache

import (
	"k8s.io/client-go/tools/cache"
)

// NamespaceIndex is client-go's constant of that name.
const NamespaceIndex = cache.NamespaceIndex

// The types of deltas are client-go's.
const (
	Added       = cache.Added
	Updated     = cache.Updated
	Deleted     = cache.Deleted
	Replaced    = cache.Replaced
	ReplacedAll = cache.ReplacedAll
	Sync        = cache.Sync
	SyncAll     = cache.SyncAll
	Bookmark    = cache.Bookmark
)

// The types of transactions are client-go's.
const (
	TransactionTypeAdd    = cache.TransactionTypeAdd
	TransactionTypeUpdate = cache.TransactionTypeUpdate
	TransactionTypeDelete = cache.TransactionTypeDelete
)

// The errors of queues are client-go's.
var (
	ErrFIFOClosed             = cache.ErrFIFOClosed
	ErrZeroLengthDeltasObject = cache.ErrZeroLengthDeltasObject
)

// The key functions are client-go's.
var (
	MetaNamespaceKeyFunc                 = cache.MetaNamespaceKeyFunc
	DeletionHandlingMetaNamespaceKeyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	SplitMetaNamespaceKey                = cache.SplitMetaNamespaceKey
	ObjectToName                         = cache.ObjectToName
	MetaObjectToName                     = cache.MetaObjectToName
	DeletionHandlingObjectToName         = cache.DeletionHandlingObjectToName
	NewObjectName                        = cache.NewObjectName
	ParseObjectName                      = cache.ParseObjectName
	NamespacedNameAsObjectName           = cache.NamespacedNameAsObjectName
	MetaNamespaceIndexFunc               = cache.MetaNamespaceIndexFunc
	IndexFuncToKeyFuncAdapter            = cache.IndexFuncToKeyFuncAdapter
)

// The functions for reading stores are client-go's.
var (
	ListAll            = cache.ListAll
	ListAllByNamespace = cache.ListAllByNamespace
	NewGenericLister   = cache.NewGenericLister
)

// The functions for waiting are client-go's.
var (
	WaitFor                          = cache.WaitFor
	WaitForCacheSync                 = cache.WaitForCacheSync
	WaitForNamedCacheSync            = cache.WaitForNamedCacheSync
	WaitForNamedCacheSyncWithContext = cache.WaitForNamedCacheSyncWithContext
	IsDone                           = cache.IsDone
	ShutDownEventHandler             = cache.ShutDownEventHandler
)

// The functions for making sources are client-go's.
var (
	NewListWatchFromClient              = cache.NewListWatchFromClient
	NewFilteredListWatchFromClient      = cache.NewFilteredListWatchFromClient
	ToListWatcherWithWatchListSemantics = cache.ToListWatcherWithWatchListSemantics
	ToListerWatcherWithContext          = cache.ToListerWatcherWithContext
	ToListerWithContext                 = cache.ToListerWithContext
	ToWatcherWithContext                = cache.ToWatcherWithContext
	DefaultWatchErrorHandler            = cache.DefaultWatchErrorHandler
)

// The names of informers for metrics are client-go's, so that a name is reserved once in a process for
// informers of both modules. The provider of metrics for client-go's reflectors is also client-go's.
var (
	NewInformerName              = cache.NewInformerName
	ResetInformerNamesForTesting = cache.ResetInformerNamesForTesting
	SetReflectorMetricsProvider  = cache.SetReflectorMetricsProvider
)

// The tools of client-go that work with any informer.
var (
	NewCacheMutationDetector                          = cache.NewCacheMutationDetector
	NewIntegerResourceVersionMutationCache            = cache.NewIntegerResourceVersionMutationCache
	NewIntegerResourceVersionMutationCacheWithOptions = cache.NewIntegerResourceVersionMutationCacheWithOptions
	NewHeap                                           = cache.NewHeap
	NewRetryWithDeadline                              = cache.NewRetryWithDeadline
)

// NewTypedSharedIndexInformer is client-go's function of that name. It wraps informers of both modules.
func NewTypedSharedIndexInformer[T Object](informer SharedIndexInformer) TypedSharedIndexInformer[T] {
	return cache.NewTypedSharedIndexInformer[T](informer)
}

// TypedIndexerFuncToIndexerFunc is client-go's function of that name.
func TypedIndexerFuncToIndexerFunc[T any](f TypedIndexFunc[T]) IndexFunc {
	return cache.TypedIndexerFuncToIndexerFunc(f)
}

// TypedIndexersToIndexers is client-go's function of that name.
func TypedIndexersToIndexers[T any](ix TypedIndexers[T]) Indexers {
	return cache.TypedIndexersToIndexers(ix)
}
