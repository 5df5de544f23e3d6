package cache

import (
	"k8s.io/client-go/tools/cache"
)

// RealFIFO is client-go's type of that name. This module's informers and reflectors do not use it.
type RealFIFO = cache.RealFIFO

// RealFIFOOptions is client-go's type of that name.
type RealFIFOOptions = cache.RealFIFOOptions

// FIFO is client-go's type of that name.
type FIFO = cache.FIFO

// ThreadSafeStoreOption is client-go's type of that name.
type ThreadSafeStoreOption = cache.ThreadSafeStoreOption

// ExpirationCache is client-go's type of that name.
type ExpirationCache = cache.ExpirationCache

// ExpirationPolicy is client-go's type of that name.
type ExpirationPolicy = cache.ExpirationPolicy

// FakeExpirationPolicy is client-go's type of that name.
type FakeExpirationPolicy = cache.FakeExpirationPolicy

// TTLPolicy is client-go's type of that name.
type TTLPolicy = cache.TTLPolicy

// TimestampedEntry is client-go's type of that name.
type TimestampedEntry = cache.TimestampedEntry

// The constructors of client-go's own containers, for programs that fill them themselves. This module's
// informers, reflectors and indexers do not use these containers.
var (
	NewRealFIFO                = cache.NewRealFIFO //nolint:staticcheck // deprecated, but still a name of client-go
	NewRealFIFOWithOptions     = cache.NewRealFIFOWithOptions
	NewFIFO                    = cache.NewFIFO
	NewThreadSafeStore         = cache.NewThreadSafeStore
	WithThreadSafeStoreMetrics = cache.WithThreadSafeStoreMetrics
	NewTTLStore                = cache.NewTTLStore
	NewExpirationStore         = cache.NewExpirationStore
	NewFakeExpirationStore     = cache.NewFakeExpirationStore
)
