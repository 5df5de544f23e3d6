package conformance_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// withShared returns the rig with a function make for client-go's interface.
func (r rig) withShared() rig {
	r.make = func(t T, lw cache.ListerWatcher, o settings) subject {
		ix := o.indexes
		if ix == nil {
			ix = cache.Indexers{}
		}
		if o.storage.Decoded != nil {
			return sharedSubject{packed(t, lw, o, ix)}
		}
		return sharedSubject{r.shared(lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: o.resync, Indexers: ix})}
	}
	return r
}

// packed returns an informer like that of a controller-runtime manager with packed objects.
func packed(t T, lw cache.ListerWatcher, o settings, ix cache.Indexers) cache.SharedIndexInformer {
	source := func() (reflector.Source, error) { return reflector.FromControllerRuntime(lw, &corev1.Pod{}), nil }
	options := informer.Options[any]{Storage: o.storage, Resync: o.resync}
	i := informer.JoinShared([]func() (reflector.Source, error){source}, reflect.TypeFor[*corev1.Pod](), options)
	ix = maps.Clone(ix)
	delete(ix, cache.NamespaceIndex) // each informer already has it
	require.NoError(t, i.AddIndexers(ix))
	return i
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
