package controllerruntime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tidemark-k8s/tidemark/factory/metrics"
)

// objectsOf returns the numbers of stored objects in the registry, by cluster and resource.
func objectsOf(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "tidemark_informer_objects" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			found[labels["cluster"]+"/"+labels["resource"]] = m.GetGauge().GetValue()
		}
	}
	return found
}

// One collector has the informers of all managers: those of one cluster together, and those of named clusters by a
// label. Managers that have ended leave nothing behind.
func TestMetricsOfSeveralClusters(t *testing.T) {
	var ends []func()
	for n, cluster := range []string{"", "", "east", "west"} {
		s := newServer(t)
		for i := range n + 1 {
			require.NoError(t, s.Create(t.Context(), newPod("a", string(rune('a'+i)))))
		}
		m, err := NewManager(s.ClientConfig(), quiet(), Cluster(cluster))
		require.NoError(t, err)
		ends = append(ends, begin(t, m))
		<-m.Elected()
		require.NoError(t, m.GetClient().List(t.Context(), &corev1.PodList{}))
	}
	require.Equal(t, map[string]float64{"/pods": 1 + 2, "east/pods": 3, "west/pods": 4}, objectsOf(t))

	// A collector of other informers may be in the registry, too.
	other := metrics.New()
	require.NoError(t, ctrlmetrics.Registry.Register(other))
	defer ctrlmetrics.Registry.Unregister(other)
	require.Len(t, objectsOf(t), 3)
	for _, end := range ends {
		end()
	}
	require.Eventually(t, func() bool { return len(objectsOf(t)) == 0 }, time.Minute, time.Millisecond)
}

// A cache by Use is in the metrics as well.
func TestMetricsOfACache(t *testing.T) {
	s := newServer(t)
	require.NoError(t, s.Create(t.Context(), newPod("a", "one")))
	config, options := s.ClientConfig(), cache.Options{}
	_, err := Use(config, &options, Cluster("edge"))
	require.NoError(t, err)
	c := started(t, config, options)
	require.NoError(t, c.List(t.Context(), &corev1.PodList{}))
	require.Equal(t, 1.0, objectsOf(t)["edge/pods"])
}
