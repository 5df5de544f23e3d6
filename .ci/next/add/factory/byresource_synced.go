package factory

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

// WaitForCacheSyncWithContext waits until the started informers are synced, or ctx ends, and
// returns which of them are synced. Err is as in [Factory.WaitForCacheSyncWithContext].
func (f *byResource[T]) WaitForCacheSyncWithContext(ctx context.Context) cache.GVRSyncResult {
	synced, err := f.synced(ctx)
	return cache.GVRSyncResult{Synced: synced, Err: err}
}
