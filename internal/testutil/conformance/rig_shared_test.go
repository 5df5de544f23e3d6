package conformance_test

import (
	"context"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// withShared returns the rig with a make function for client-go's interface.
func (r rig) withShared() rig {
	r.make = func(_ T, lw cache.ListerWatcher, o settings) subject {
		ix := o.indexes
		if ix == nil {
			ix = cache.Indexers{}
		}
		if o.storage.Decoded != nil {
			return sharedSubject{informer.ControllerRuntime{Storage: o.storage}.NewInformer(lw, &corev1.Pod{}, o.resync, ix)}
		}
		return sharedSubject{r.shared(lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: o.resync, Indexers: ix})}
	}
	return r
}

// sharedSubject is an informer with client-go's interface.
type sharedSubject struct{ informer cache.SharedIndexInformer }

var _ subject = sharedSubject{}

func (s sharedSubject) handle(t T, h funcs, resync *time.Duration) registration {
	handle, err := s.informer.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: resync})
	require.NoError(t, err)
	return sharedRegistration{s.informer, handle}
}

func (s sharedSubject) run(ctx context.Context) { s.informer.RunWithContext(ctx) }
func (s sharedSubject) synced() bool            { return s.informer.HasSynced() }
func (s sharedSubject) stopped() bool           { return s.informer.IsStopped() }
func (s sharedSubject) storageStatus() informer.StorageStatus {
	return s.informer.(informer.Shared).Status().Storage
}

func (s sharedSubject) version() string { return s.informer.LastSyncResourceVersion() }

func (s sharedSubject) storeVersion() string {
	return s.informer.GetStore().LastStoreSyncResourceVersion()
}

func (s sharedSubject) get(key string) any {
	obj, exists, err := s.informer.GetStore().GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	return obj
}

func (s sharedSubject) keys() []string {
	keys := s.informer.GetStore().ListKeys()
	slices.Sort(keys)
	return keys
}

func (s sharedSubject) by(index, value string) ([]string, error) {
	return s.informer.GetIndexer().IndexKeys(index, value)
}

func (s sharedSubject) addIndexers(ix cache.Indexers) error { return s.informer.AddIndexers(ix) }

func (s sharedSubject) transform(f cache.TransformFunc) error { return s.informer.SetTransform(f) }

func (s sharedSubject) onError(h func(error)) error {
	return s.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { h(err) })
}

type sharedRegistration struct {
	informer cache.SharedIndexInformer
	handle   cache.ResourceEventHandlerRegistration
}

func (r sharedRegistration) synced() bool  { return r.handle.HasSynced() }
func (r sharedRegistration) remove() error { return r.informer.RemoveEventHandler(r.handle) }
