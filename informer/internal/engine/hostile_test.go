package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// The number of log lines is bounded, however many objects fail, and the log says how many lines
// are missing.
func TestTheLogIsNotFlooded(t *testing.T) {
	log := kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		const objects = 5000
		f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
		f.ObserveWith(klog.NewContext(t.Context(), log.Logger()), nil)
		storm := func() {
			for i := range objects {
				f.write(t, deltaOf(deltafifo.Modified, kit.Pod(fmt.Sprint(i), "7", rig.Sick)))
			}
		}
		storm()
		require.Equal(t, limits.MaxLines, log.Count("quarantined"))
		require.Equal(t, 1, log.Count("Too many lines"))
		require.EqualValues(t, objects, f.Status().Quarantined, "all of them are counted")
		time.Sleep(time.Minute)
		storm()
		require.Equal(t, 2*limits.MaxLines, log.Count("quarantined"))
		require.Equal(t, 1, log.Count(fmt.Sprintf("lines=%d", objects-limits.MaxLines)), "the log counts the missing lines")
		require.LessOrEqual(t, log.Count(""), 2*limits.MaxLines+3)
	})
}

// Objects are stored under any name, also under empty and very long ones, and no name hides
// another. Only error texts are cut.
func TestNamesThatAreNone(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
	keys := []indexer.Key{
		{}, {Namespace: "n"}, {Name: "a"}, {Namespace: "a/b", Name: "c"}, {Namespace: "a", Name: "b/c"}, {Name: "a/b/c"},
		{Namespace: "..", Name: "."}, {Namespace: long, Name: "a"}, {Namespace: "n", Name: long}, {Namespace: "n", Name: "\x00\xff\n"},
	}
	for i, key := range keys {
		f.write(t, deltaOf(deltafifo.Added, kit.Pod(key.Name, fmt.Sprint(i+1), func(p *corev1.Pod) { p.Namespace = key.Namespace })))
	}
	require.Equal(t, len(keys), f.Writer().Indexer().Len())
	for i, key := range keys {
		obj, ok := podsIn(f.Core).Get(key)
		require.True(t, ok)
		require.Equal(t, fmt.Sprint(i+1), obj.ResourceVersion)
	}
	seen := rig.NewEvents()
	f.ObserveWith(t.Context(), seen.Observe)
	f.write(t, deltaOf(deltafifo.Modified, kit.Pod(long, "9", kit.Label("poison", "panic"))))
	recorded := rig.Of[*informer.QuarantineError](seen)
	require.Len(t, recorded, 1)
	require.Less(t, len(recorded[0].Error()), 2*object.MaxText+100)
}

// If a list holds the same key many times, the last object is stored.
func TestOneKeyManyTimesInAList(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	pods := make([]*corev1.Pod, 10_000)
	for i := range pods {
		pods[i] = kit.Pod("a", fmt.Sprint(i+1))
	}
	for range 2 {
		f.list("20000", pods...)
		require.Equal(t, 1, f.Writer().Indexer().Len())
		a, _ := podsIn(f.Core).Get(rig.Named("a"))
		require.Equal(t, "10000", a.ResourceVersion)
	}
}
