package informer_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// meters is a metrics provider that records the values set and observed.
type meters struct {
	mu       sync.Mutex
	queued   []float64
	latency  []float64
	versions []float64
}

type (
	gauge     struct{ set func(float64) }
	histogram struct{ observe func(float64) }
)

func (m gauge) Set(v float64)         { m.set(v) }
func (h histogram) Observe(v float64) { h.observe(v) }

func (m *meters) into(to *[]float64) func(float64) {
	return func(v float64) {
		m.mu.Lock()
		defer m.mu.Unlock()

		*to = append(*to, v)
	}
}

func (m *meters) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{m.into(&m.queued)}
}

func (m *meters) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return histogram{m.into(&m.latency)}
}

func (m *meters) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{m.into(&m.versions)}
}

// version returns the store version that was published last, -1 for none.
func (m *meters) version() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()

	if len(m.versions) == 0 {
		return -1
	}
	return m.versions[len(m.versions)-1]
}

// reserved returns an identifier that is reserved until the end of the test, and its name.
func reserved(t *testing.T) (cache.InformerNameAndResource, *cache.InformerName) {
	name, err := cache.NewInformerName(t.Name())
	require.NoError(t, err)
	t.Cleanup(name.Release)
	id := name.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	return id, name
}

// B111: an informer publishes client-go's metrics under its reserved identifier. A second informer
// under the same name and resource has none.
func TestContract_B111_Metrics(t *testing.T) {
	id, name := reserved(t)
	for what, made := range map[string]func(s *rig.Script, id cache.InformerNameAndResource, m *meters) (cache.Store, func(<-chan struct{})){
		"shared": func(s *rig.Script, id cache.InformerNameAndResource, m *meters) (cache.Store, func(<-chan struct{})) {
			i := informer.ForListerWatcher(kit.ListerWatcher{Source: s}, &corev1.Pod{}, cache.SharedIndexInformerOptions{Identifier: id, InformerMetricsProvider: m})
			return i.GetStore(), i.Run
		},
		"of its own": func(s *rig.Script, id cache.InformerNameAndResource, m *meters) (cache.Store, func(<-chan struct{})) {
			store, c := informer.ForOneHandler(cache.InformerOptions{
				ListerWatcher: kit.ListerWatcher{Source: s}, Handler: (&kit.Recorder{}).Handler(), Identifier: id, InformerMetricsProvider: m,
			})
			return store, c.Run
		},
		"measured later": func(s *rig.Script, id cache.InformerNameAndResource, m *meters) (cache.Store, func(<-chan struct{})) {
			i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{}).Shared()
			require.NoError(t, informer.SetMetrics(i, id, m))
			return i.GetStore(), i.Run
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := rig.NewScript("10", kit.Pod("a", "1")), &meters{}
				store, run := made(s, id, m)
				stop, ended := make(chan struct{}), make(chan struct{})
				go func() { defer close(ended); run(stop) }()
				synctest.Wait()
				require.InDelta(t, 10, m.version(), 0)
				s.Send(watch.Modified, kit.Pod("a", "90012345678901234567"))
				synctest.Wait()
				require.InDelta(t, 345678901234567.0, m.version(), 0, "as many digits as are exact")
				require.NoError(t, store.Update(kit.Pod("b", "1")))
				close(stop)
				<-ended
				require.Positive(t, m.queued[0], "what waits")
				require.Zero(t, m.queued[len(m.queued)-1])
				require.Len(t, m.queued, 2*len(m.latency), "each section is measured")
			})
		})
	}
	twice := &meters{}
	synctest.Test(t, func(t *testing.T) {
		startClientgo(t, informer.ForListerWatcher(kit.ListerWatcher{Source: rig.NewScript("10")}, &corev1.Pod{}, cache.SharedIndexInformerOptions{
			Identifier: name.WithResource(id.GroupVersionResource()), InformerMetricsProvider: twice,
		}))
	})
	require.Equal(t, &meters{}, twice, "a second one under a name has none")
}

func TestMeasureIsForInformersOfOurs(t *testing.T) {
	id, _ := reserved(t)
	require.ErrorIs(t, informer.SetMetrics(nil, id, &meters{}), informer.ErrType)
	synctest.Test(t, func(t *testing.T) {
		i := newShared(kit.ListerWatcher{Source: rig.NewScript("1")}, &corev1.Pod{}, 0, nil)
		require.NoError(t, informer.SetMetrics(i, cache.InformerNameAndResource{}, &meters{}))
		stop := startClientgo(t, i)
		require.ErrorIs(t, informer.SetMetrics(i, id, &meters{}), informer.ErrRunning)
		stop()
		require.ErrorIs(t, informer.SetMetrics(i, id, &meters{}), informer.ErrStopped)
	})
}

// Only the first call of SetInformerMetricsProvider counts.
func TestTheProvidersOfMetrics(t *testing.T) {
	id, _ := reserved(t)
	require.Nil(t, informer.NewMetrics(id, nil))
	first, second := &meters{}, &meters{}
	informer.SetInformerMetricsProvider(first)
	informer.SetInformerMetricsProvider(second)
	t.Cleanup(informer.ForgetProvider)
	require.NotNil(t, informer.NewMetrics(id, nil))
	require.Nil(t, informer.NewMetrics(cache.InformerNameAndResource{}, nil), "without a name")
	store := informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, nil, informer.StoreOptions{Identifier: id})
	require.NoError(t, store.Add(kit.Pod("a", "5")))
	require.InDelta(t, 5, first.version(), 0)
	store.Bookmark("7")
	require.InDelta(t, 7, first.version(), 0)
	require.NoError(t, store.Replace(nil, "9"))
	require.InDelta(t, 9, first.version(), 0)
	require.NoError(t, store.Delete(kit.Pod("a", "11")))
	require.InDelta(t, 11, first.version(), 0)
	require.InDelta(t, -1, second.version(), 0)
	informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, nil, informer.StoreOptions{}).Bookmark("1")
}
