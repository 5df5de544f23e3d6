package cache

import (
	"k8s.io/client-go/tools/cache"
)

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
