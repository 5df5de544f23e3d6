package informer_test

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// constructor builds an informer with client-go's API.
type constructor func(s kit.Source, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer

// clientgoInformers build informers with client-go's API: of any type, and of pods.
var clientgoInformers = map[string]constructor{
	"any": func(s kit.Source, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
		return newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, resync, ix)
	},
	"pods": func(s kit.Source, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
		return informer.JoinShared(rig.LateOf(s), reflect.TypeFor[*corev1.Pod](), informer.Options[any]{Resync: resync, Indexes: clientgostore.Indexes(ix, true)})
	},
}

var byNamespace = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}

// eachClientgoInformer runs a test with each of clientgoInformers, in a synctest bubble.
func eachClientgoInformer(t *testing.T, test func(t *testing.T, create constructor)) {
	for name, create := range clientgoInformers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, create) })
		})
	}
}

// startClientgo runs an informer until stop is called or the test ends.
func startClientgo(t *testing.T, i cache.SharedIndexInformer) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); i.RunWithContext(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// collectErrors makes an informer collect its errors instead of logging them.
func collectErrors(t *testing.T, i cache.SharedIndexInformer) *[]error {
	var errs []error
	var mu sync.Mutex
	require.NoError(t, i.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		mu.Lock()
		defer mu.Unlock()

		errs = append(errs, err)
	}))
	return &errs
}

// addRecorder adds a recorder as a handler.
func addRecorder(t *testing.T, i cache.SharedIndexInformer) (*kit.Recorder, cache.ResourceEventHandlerRegistration) {
	r := &kit.Recorder{}
	reg, err := i.AddEventHandler(r.Handler())
	require.NoError(t, err)
	return r, reg
}

// newShared is client-go's NewSharedIndexInformer, as in package informer/cache.
func newShared(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return informer.ForListerWatcher(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: ix})
}

// newOneHandler is client-go's NewInformer, as in package informer/cache.
func newOneHandler(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, h cache.ResourceEventHandler) (cache.Indexer, cache.Controller) {
	return informer.ForOneHandler(cache.InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h})
}
