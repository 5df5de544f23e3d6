package cache

import (
	"k8s.io/client-go/tools/cache"
)

// RealFIFO is client-go's type of that name. No informer and no reflector of this module uses it.
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

// The constructors of client-go's own containers, for programs that fill them themselves. No
// informer, reflector or indexer of this module uses these containers.
var (
	NewRealFIFO                = cache.NewRealFIFO //nolint:staticcheck // deprecated, and a name of client-go's all the same
	NewRealFIFOWithOptions     = cache.NewRealFIFOWithOptions
	NewFIFO                    = cache.NewFIFO
	NewThreadSafeStore         = cache.NewThreadSafeStore
	WithThreadSafeStoreMetrics = cache.WithThreadSafeStoreMetrics
	NewTTLStore                = cache.NewTTLStore
	NewExpirationStore         = cache.NewExpirationStore
	NewFakeExpirationStore     = cache.NewFakeExpirationStore
)
