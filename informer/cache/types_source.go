package cache

import (
	"k8s.io/client-go/tools/cache"
)

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
