package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// packedIn returns the options of an informer with packed objects and a budget.
func packedIn(b *informer.Budget) informer.Options[*corev1.Pod] {
	return informer.Options[*corev1.Pod]{Storage: informer.Storage{Decoded: b}}
}

// coolDown makes all objects cold by filling the budget with others.
func coolDown(f *testCore) {
	for i := range 4000 {
		_ = f.FromObject(podWith(fmt.Sprint("other-", i), func(p *corev1.Pod) { p.Status.Message = fmt.Sprintf("%01000d", i) }))
	}
}

// If a program writes into a hot object, other readers see it until the object is cold. The stored object stays
// intact.
func TestAProgramThatWritesIntoAHotObject(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedIn(informer.NewBudget(1<<20)), 1)
	f.list("1", kit.Pod("a", "1", kit.Label("app", "web")), kit.Pod("b", "2"))
	a := podAt(t, f.Core, "a")
	a.Labels["app"] = "spoilt"
	a.Spec.NodeName = "spoilt"
	require.Same(t, a, podAt(t, f.Core, "a"))
	coolDown(f)
	again := podAt(t, f.Core, "a")
	require.NotSame(t, a, again)
	require.Equal(t, kit.Pod("a", "1", kit.Label("app", "web")), again)
	require.Len(t, podsIn(f.Core).Select("", labels.SelectorFromSet(labels.Set{"app": "web"})), 1)
	require.Empty(t, f.Untold())
}

// Informers that share a budget never exceed it. The objects of an informer that is gone leave it as others arrive.
func TestABudgetOfTwoInformers(t *testing.T) {
	unverified(t)
	b := informer.NewBudget(64 << 10)
	one, two := newTestCore(t, packedIn(b), 1), newTestCore(t, packedIn(b), 1)
	fill := func(f *testCore, from int) {
		for i := range 200 {
			f.apply(deltaOf(deltafifo.Added, heavyPod(from+i)))
			require.LessOrEqual(t, b.Used(), b.Limit())
		}
	}
	fill(one, 0)
	require.Greater(t, b.Used(), b.Limit()/2)
	require.InDelta(t, b.Used(), one.Status().Storage.Decoded, 1)
	fill(two, 1000)
	require.Equal(t, b.Used(), one.Status().Storage.Decoded+two.Status().Storage.Decoded)
	gone := weak.Make(one.Kind())
	one = nil
	fill(two, 2000)
	require.Equal(t, b.Used(), two.Status().Storage.Decoded)
	collected(t, gone)
	goruntime.KeepAlive(two)
}

// collected checks that nothing keeps a value alive.
func collected[T any](t *testing.T, p weak.Pointer[T]) {
	t.Helper()
	rig.Eventually(t, func() bool { goruntime.GC(); return p.Value() == nil }, "it is kept alive")
}

// Replaced versions, deleted objects and their bases are garbage.
func TestDeadPackedObjectsAreGarbage(t *testing.T) {
	unverified(t)
	f := newTestCore(t, rig.PackedCold(), 1)
	f.list("1")
	var dead []weak.Pointer[pack.Object]
	for i := range 20 {
		f.apply(deltaOf(deltafifo.Added, heavyPod(i)))
		stored, ok := f.Writer().Stored(heavyKey(i))
		require.True(t, ok)
		dead = append(dead, weak.Make(engine.Unwrap(stored)))
		_, ok = podsIn(f.Core).Get(heavyKey(i))
		require.True(t, ok)
	}
	for i := range 20 {
		if i%2 == 0 {
			f.apply(deltaOf(deltafifo.Modified, heavyPod(i)))
		}
		f.apply(deltaOf(deltafifo.Deleted, heavyPod(i)))
	}
	f.apply(deltaOf(deltafifo.Added, kit.Pod("another", "100")))
	for _, p := range dead {
		collected(t, p)
	}
	goruntime.KeepAlive(f)
}

// An object that changes again and again takes the room of a few versions, even in a budget with room for all.
func TestReplacedVersionsLeaveAnyBudget(t *testing.T) {
	unverified(t)
	b := informer.NewBudget(math.MaxInt64)
	f := newTestCore(t, packedIn(b), 1)
	f.list("1", kit.Pod("a", "1"))
	one := b.Used()
	for i := range 4000 {
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(2+i))))
		if i%100 == 0 {
			goruntime.GC()
		}
	}
	require.Less(t, b.Used(), 1000*one)
	require.Equal(t, b.Used(), f.Status().Storage.Decoded)
}

func heavyKey(i int) indexer.Key { key, _ := object.KeyOf(heavyPod(i)); return key }

// Goroutines read, list and select while objects are packed, decoded and evicted.
func TestReadersRaceEviction(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedIn(informer.NewBudget(16<<10)), 1)
	const pods = 32
	version := func(i, n int) *corev1.Pod {
		return kit.Pod(fmt.Sprint("web-", i), fmt.Sprint(n), kit.Label("app", fmt.Sprint(i%4)), func(p *corev1.Pod) { p.Status.Message = fmt.Sprintf("%0*d", 500+i, n) })
	}
	var first []*corev1.Pod
	for i := range pods {
		first = append(first, version(i, 1))
	}
	f.list("1", first...)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for g := range 4 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 0)) //nolint:gosec // a seed
			for !kit.Closed(stop) {
				i := r.IntN(pods)
				p, ok := podsIn(f.Core).Get(rig.Named(fmt.Sprint("web-", i)))
				if !ok || p.Status.Message != fmt.Sprintf("%0*s", 500+i, p.ResourceVersion) {
					t.Errorf("pod %d: %v %v", i, ok, p)
					return
				}
				if n := len(podsIn(f.Core).Select("default", labels.SelectorFromSet(labels.Set{"app": "1"}))); n != pods/4 {
					t.Errorf("%d pods", n)
				}
				podsIn(f.Core).Snapshot().List()
				_ = f.Status().Storage
			}
		})
	}
	for n := range 1000 {
		f.apply(deltaOf(deltafifo.Modified, version(n%pods, n+2)))
	}
	close(stop)
	readers.Wait()
	require.LessOrEqual(t, f.Status().Storage.Budget.Used(), int64(16<<10))
}

// The memory that an informer with packed objects reports is close to the growth of the heap.
func TestReportedMemoryOfPackedObjectsMatchesTheHeap(t *testing.T) {
	tier.SkipRaced(t)
	const pods = 2000
	for name, limit := range map[string]int64{"cold": 0, "partly hot": 4 << 20, "all hot": math.MaxInt64} {
		t.Run(name, func(t *testing.T) {
			unverified(t)
			f := newTestCore(t, packedIn(informer.NewBudget(limit)), 1)
			f.list("1", kit.RunningPod("x", 0))
			m := f.Inspect()
			before := heapInUse()
			for n := range pods {
				f.apply(deltaOf(deltafifo.Added, kit.RunningPod(fmt.Sprint(n/100), n).DeepCopy()))
			}
			grown := heapInUse() - before
			for m.Weight.Last().At.IsZero() {
				f.Weigh(m)
			}
			recorded := m.Weight.Last()
			t.Logf("packed %d, decoded %d, objects %d, engine %d: %d of %d on the heap", recorded.Packed, recorded.Decoded, recorded.Objects, recorded.Engine, recorded.Objects+recorded.Engine, grown)
			require.InEpsilon(t, grown, recorded.Objects+recorded.Engine, 0.15)
			require.Equal(t, recorded.Objects, recorded.Packed+recorded.Decoded)
			goruntime.KeepAlive(f)
		})
	}
}

// finds requires that the detector finds a write into an object.
func finds(t *testing.T, f *testCore, wrote string) {
	t.Helper()
	defer func() { require.Contains(t, recover(), "cache pods modified: a program has written into "+wrote+"\n") }()
	f.Compare()
}

// What was decoded for a reader or a handler is watched as well, and stored objects are.
func TestADetectorSeesPackedObjects(t *testing.T) {
	unverified(t)
	t.Setenv("TIDEMARK_VERIFY", "1")
	for name, get := range map[string]func(f *testCore) *corev1.Pod{
		"that was kept":    func(f *testCore) *corev1.Pod { return podAt(t, f.Core, "a") },
		"that was decoded": func(f *testCore) *corev1.Pod { coolDown(f); return podAt(t, f.Core, "a") },
		"of a handler": func(f *testCore) *corev1.Pod {
			coolDown(f)
			return f.ForHandler(storedAt(t, f, "a")).(*corev1.Pod)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := packedIn(informer.NewBudget(1 << 20))
			o.Name = "pods"
			f := newTestCore(t, o, 1)
			f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
			p := get(f)
			f.Compare()
			p.Spec.NodeName = "n1"
			finds(t, f, ".Spec.NodeName of default/a")
		})
	}
}

func storedAt(t *testing.T, f *testCore, name string) any {
	t.Helper()
	stored, ok := f.Writer().Stored(rig.Named(name))
	require.True(t, ok)
	return stored
}
