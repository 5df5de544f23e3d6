package cache

import (
	"k8s.io/client-go/tools/cache"
)

// SharedInformer is client-go's type of that name.
type SharedInformer = cache.SharedInformer

// SharedIndexInformer is client-go's type of that name.
type SharedIndexInformer = cache.SharedIndexInformer

// SharedIndexInformerOptions is client-go's type of that name.
type SharedIndexInformerOptions = cache.SharedIndexInformerOptions

// InformerOptions is client-go's type of that name.
type InformerOptions = cache.InformerOptions

// InformerSynced is client-go's type of that name.
type InformerSynced = cache.InformerSynced

// Controller is client-go's type of that name.
type Controller = cache.Controller

// Config is client-go's type of that name.
type Config = cache.Config

// ProcessFunc is client-go's type of that name.
type ProcessFunc = cache.ProcessFunc

// ProcessBatchFunc is client-go's type of that name.
type ProcessBatchFunc = cache.ProcessBatchFunc

// ShouldResyncFunc is client-go's type of that name.
type ShouldResyncFunc = cache.ShouldResyncFunc

// HandlerOptions is client-go's type of that name.
type HandlerOptions = cache.HandlerOptions

// ResourceEventHandler is client-go's type of that name.
type ResourceEventHandler = cache.ResourceEventHandler

// ResourceEventHandlerFuncs is client-go's type of that name.
type ResourceEventHandlerFuncs = cache.ResourceEventHandlerFuncs

// ResourceEventHandlerDetailedFuncs is client-go's type of that name.
type ResourceEventHandlerDetailedFuncs = cache.ResourceEventHandlerDetailedFuncs

// FilteringResourceEventHandler is client-go's type of that name.
type FilteringResourceEventHandler = cache.FilteringResourceEventHandler

// ResourceEventHandlerRegistration is client-go's type of that name.
type ResourceEventHandlerRegistration = cache.ResourceEventHandlerRegistration

// DoneChecker is client-go's type of that name.
type DoneChecker = cache.DoneChecker

// SyncResult is client-go's type of that name.
type SyncResult = cache.SyncResult

// WatchErrorHandler is client-go's type of that name.
type WatchErrorHandler = cache.WatchErrorHandler

// WatchErrorHandlerWithContext is client-go's type of that name.
type WatchErrorHandlerWithContext = cache.WatchErrorHandlerWithContext

// TransformFunc is client-go's type of that name.
type TransformFunc = cache.TransformFunc

// MutationDetector is client-go's type of that name.
type MutationDetector = cache.MutationDetector

// TypedSharedIndexInformer is client-go's type of that name.
type TypedSharedIndexInformer[T Object] = cache.TypedSharedIndexInformer[T]

// TypedResourceEventHandler is client-go's type of that name.
type TypedResourceEventHandler[T Object] = cache.TypedResourceEventHandler[T]

// TypedResourceEventHandlerFuncs is client-go's type of that name.
type TypedResourceEventHandlerFuncs[T Object] = cache.TypedResourceEventHandlerFuncs[T]

// TypedResourceEventHandlerDetailedFuncs is client-go's type of that name.
type TypedResourceEventHandlerDetailedFuncs[T Object] = cache.TypedResourceEventHandlerDetailedFuncs[T]

// TypedFilteringResourceEventHandler is client-go's type of that name.
type TypedFilteringResourceEventHandler[T Object] = cache.TypedFilteringResourceEventHandler[T]

// DeletedObject is client-go's type of that name.
type DeletedObject[T Object] = cache.DeletedObject[T]

// Object is client-go's type of that name.
type Object = cache.Object

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

// Lister is client-go's type of that name.
type Lister = cache.Lister

// ListerWithContext is client-go's type of that name.
type ListerWithContext = cache.ListerWithContext

// Watcher is client-go's type of that name.
type Watcher = cache.Watcher

// WatcherWithContext is client-go's type of that name.
type WatcherWithContext = cache.WatcherWithContext

// ListerWatcher is client-go's type of that name.
type ListerWatcher = cache.ListerWatcher

// ListerWatcherWithContext is client-go's type of that name.
type ListerWatcherWithContext = cache.ListerWatcherWithContext

// ListWatch is client-go's type of that name.
type ListWatch = cache.ListWatch

// ListFunc is client-go's type of that name.
type ListFunc = cache.ListFunc //nolint:staticcheck // deprecated, but still a name of client-go

// ListWithContextFunc is client-go's type of that name.
type ListWithContextFunc = cache.ListWithContextFunc

// WatchFunc is client-go's type of that name.
type WatchFunc = cache.WatchFunc //nolint:staticcheck // deprecated, but still a name of client-go

// WatchFuncWithContext is client-go's type of that name.
type WatchFuncWithContext = cache.WatchFuncWithContext

// Getter is client-go's type of that name.
type Getter = cache.Getter

// Reflector is client-go's type of that name.
type Reflector = cache.Reflector

// ReflectorOptions is client-go's type of that name.
type ReflectorOptions = cache.ReflectorOptions

// ReflectorStore is client-go's type of that name.
type ReflectorStore = cache.ReflectorStore

// ReflectorBookmarkStore is client-go's type of that name.
type ReflectorBookmarkStore = cache.ReflectorBookmarkStore

// VeryShortWatchError is client-go's type of that name.
type VeryShortWatchError = cache.VeryShortWatchError

// RetryWithDeadline is client-go's type of that name.
type RetryWithDeadline = cache.RetryWithDeadline

// Queue is client-go's type of that name.
type Queue = cache.Queue

// QueueWithBatch is client-go's type of that name.
type QueueWithBatch = cache.QueueWithBatch

// PopProcessFunc is client-go's type of that name.
type PopProcessFunc = cache.PopProcessFunc

// Delta is client-go's type of that name.
type Delta = cache.Delta

// Deltas is client-go's type of that name.
type Deltas = cache.Deltas

// DeltaType is client-go's type of that name.
type DeltaType = cache.DeltaType

// DeltaFIFOOptions is client-go's type of that name.
type DeltaFIFOOptions = cache.DeltaFIFOOptions

// ReplacedAllInfo is client-go's type of that name.
type ReplacedAllInfo = cache.ReplacedAllInfo

// SyncAllInfo is client-go's type of that name.
type SyncAllInfo = cache.SyncAllInfo

// BookmarkInfo is client-go's type of that name.
type BookmarkInfo = cache.BookmarkInfo

// KeyLister is client-go's type of that name.
type KeyLister = cache.KeyLister

// KeyGetter is client-go's type of that name.
type KeyGetter = cache.KeyGetter

// KeyListerGetter is client-go's type of that name.
type KeyListerGetter = cache.KeyListerGetter

// TransformingStore is client-go's type of that name.
type TransformingStore = cache.TransformingStore

// Heap is client-go's type of that name.
type Heap = cache.Heap

// LessFunc is client-go's type of that name.
type LessFunc = cache.LessFunc

// InformerName is client-go's type of that name.
type InformerName = cache.InformerName

// InformerNameAndResource is client-go's type of that name.
type InformerNameAndResource = cache.InformerNameAndResource

// InformerMetricsProvider is client-go's type of that name.
type InformerMetricsProvider = cache.InformerMetricsProvider

// MetricsProvider is client-go's type of that name.
type MetricsProvider = cache.MetricsProvider

// GaugeMetric is client-go's type of that name.
type GaugeMetric = cache.GaugeMetric

// CounterMetric is client-go's type of that name.
type CounterMetric = cache.CounterMetric

// SummaryMetric is client-go's type of that name.
type SummaryMetric = cache.SummaryMetric

// HistogramMetric is client-go's type of that name.
type HistogramMetric = cache.HistogramMetric
