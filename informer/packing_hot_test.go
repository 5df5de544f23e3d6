package informer

import (
	"fmt"
	"math"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// packedIn returns the options of an informer with packed objects and a budget.
func packedIn(b *Budget) Options[*corev1.Pod] {
	return Options[*corev1.Pod]{Storage: Storage{Decoded: b}}
}

// decodes returns a function that checks the number of objects decoded since its previous call. The test must
// have switched verify mode off, which decodes more.
func (f *testCore) decodes() (decoded func(want int, of ...any)) {
	before := f.Kind().Decodes()
	return func(want int, of ...any) {
		f.t.Helper()
		now := f.Kind().Decodes()
		require.EqualValues(f.t, want, now-before, of...)
		before = now
	}
}

// A stored object that a list recalls stays packed. It is decoded for an index only if it must be put back, because
// a program has deleted it or another source has taken it over.
func TestRecalledObjectsAreNotDecoded(t *testing.T) {
	unverified(t)
	for name, row := range map[string]struct {
		parts     int
		meanwhile func(f *testCore)
		want      int
	}{
		"stored":            {1, func(*testCore) {}, 0},
		"deleted meanwhile": {1, func(f *testCore) { require.NoError(f.t, f.clientgo.store.Delete(kit.Pod("a", "1"))) }, 1},
		"of another source": {2, func(f *testCore) { f.apply(ofPart(1, kit.Pod("a", "1"))) }, 2},
		"sent again":        {1, func(f *testCore) { f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "1"))) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := packedCold()
			o.Indexes = []indexer.Index[*corev1.Pod]{byApp}
			f := newTestCore(t, o, row.parts)
			f.list("10", kit.Pod("a", "1", kit.Label("app", "web")))
			decoded := f.decodes()
			stored, ok := f.in.Recall(object.Identity{Key: named("a"), UID: "uid-a", Version: "1"})
			require.True(t, ok)
			_, ok = f.in.Recall(object.Identity{Key: named("a"), UID: "uid-a", Version: "2"})
			require.False(t, ok)
			row.meanwhile(f)
			f.beginReplace()
			f.apply(deltafifo.Delta{Op: deltafifo.Added, Recalled: true, Key: named("a"), UID: "uid-a", Version: "1", Stamp: object.StampOf("uid-a"), Object: stored})
			f.commitReplace("20")
			decoded(row.want)
			require.Equal(t, 1, f.Writer().Indexer().Len())
		})
	}
}

func ofPart(source uint16, p *corev1.Pod) deltafifo.Delta {
	d := deltaOf(deltafifo.Modified, p)
	d.Source = source
	return d
}

// Reuse finds unchanged packed objects in a list, and decodes none.
func TestReuseOfPackedObjectsDecodesNothing(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedCold(), 1)
	f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
	decoded := f.decodes()
	a, _ := f.Writer().Stored(named("a"))
	listed := []deltafifo.Delta{deltaOf(deltafifo.Added, kit.Pod("a", "1")), deltaOf(deltafifo.Added, kit.Pod("b", "3")), deltaOf(deltafifo.Added, kit.Pod("c", "4"))}
	f.in.Reuse(listed)
	require.True(t, listed[0].Recalled)
	require.Same(t, a, listed[0].Object)
	require.False(t, listed[1].Recalled)
	require.False(t, listed[2].Recalled)
	decoded(0)
}

// Queries and relations decode nothing. The objects that they find are decoded when they are read.
func TestQueriesOfPackedObjectsDecodeNothing(t *testing.T) {
	unverified(t)
	o := packedCold()
	o.Indexes = []indexer.Index[*corev1.Pod]{refs.ByOwner[*corev1.Pod](), refs.ByReference[*corev1.Pod]()}
	f := newTestCore(t, o, 1)
	rs := &metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-web"}
	all := make([]*corev1.Pod, 30)
	for n := range all {
		all[n] = kit.Pod(fmt.Sprint("p", n), fmt.Sprint(n+1), kit.Label("app", fmt.Sprint(n%3)))
		all[n].Spec.NodeName = fmt.Sprint("n", n%5)
		all[n].OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: rs.Name, UID: rs.UID}}
	}
	f.list("100", all...)
	on := refs.ReferringTo(refs.Ref{Kind: "Node", Name: "n2"})
	of := labels.SelectorFromSet(labels.Set{"app": "1"})
	decoded := f.decodes()
	for range 4 { // the third one builds an index
		for want, queries := range map[int][]indexer.Query{
			30: {refs.OwnedBy(rs)}, 6: {on}, 10: {{Namespace: "default", Labels: of}}, 2: {{Labels: of, Fields: on.Fields}}, 14: {{Labels: of}, on},
		} {
			found, err := podsIn(f.Core).Find(queries...)
			require.NoError(t, err)
			keys, err := podsIn(f.Core).FindKeys(queries...)
			require.NoError(t, err)
			require.Len(t, keys, want)
			decoded(0, queries)
			require.Len(t, found.List(), want)
			decoded(want, queries)
		}
	}
}

// If the transform removes identities, the informer keeps the server's, and a relist finds unchanged objects
// without decoding them.
func TestIdentitiesThatTheTransformRemoves(t *testing.T) {
	unverified(t)
	o := packedCold()
	o.Transform = func(p *corev1.Pod) (*corev1.Pod, error) {
		p = p.DeepCopy()
		p.UID, p.ResourceVersion = "", ""
		return p, nil
	}
	f := newTestCore(t, o, 1)
	decoded := f.decodes()
	full := func(version string, pods ...*corev1.Pod) {
		require.NoError(t, f.in.Begin(t.Context(), reflector.SameHistory))
		for _, p := range pods {
			require.NoError(t, f.in.Write(t.Context(), []deltafifo.Delta{deltaOf(deltafifo.Added, p)}))
		}
		require.NoError(t, f.in.Commit(t.Context(), version))
		f.drain(t)
	}
	full("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
	a, _ := f.Writer().Stored(named("a"))
	f.write(t, deltaOf(deltafifo.Modified, kit.Pod("b", "11")))
	b, _ := f.Writer().Stored(named("b"))
	full("20", kit.Pod("a", "1"), kit.Pod("b", "11"), kit.Pod("c", "12"))
	now, _ := f.Writer().Stored(named("a"))
	require.Same(t, a, now)
	now, _ = f.Writer().Stored(named("b"))
	require.Same(t, b, now)
	require.Equal(t, object.Identity{Key: named("b"), UID: "uid-b", Version: "11"}, f.Identity(named("b"), now))
	decoded(0)
	require.Equal(t, 3, f.Identities())
	full("30")
	require.Zero(t, f.Identities())
}

// Handlers get the delete of an object that was never stored, with its decoded final state.
func TestTheDeleteOfAnUnknownObjectIsDecoded(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedCold(), 1)
	decoded := f.decodes()
	var typedDeletes int
	var told []any
	typed := f.register(Funcs[*corev1.Pod]{Deleted: func(*corev1.Pod) { typedDeletes++ }}, HandlerOptions{})
	clientgo := f.receive(&clientgoReceiver{cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) { told = append(told, obj) },
	}, nil}, HandlerOptions{})
	f.list("1")
	last := kit.Pod("a", "2")
	lost := deltaOf(deltafifo.Deleted, kit.Pod("b", "3"))
	lost.Object, lost.Lost = nil, true
	f.apply(deltaOf(deltafifo.Deleted, last), lost)
	f.start()
	f.settled(typed, clientgo)
	require.Equal(t, 1, typedDeletes)
	require.Equal(t, []any{last}, told, "nothing is left of b")
	decoded(2)
}

// Only the objects that a handler needs are decoded.
func TestHandlersDecodeWhatTheyNeed(t *testing.T) {
	unverified(t)
	for name, row := range map[string]struct {
		handler                 Handler[*corev1.Pod]
		added, updated, deleted int
	}{
		"all":     {HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {}), 1, 2, 1},
		"adds":    {Funcs[*corev1.Pod]{Added: func(*corev1.Pod) {}}, 1, 0, 0},
		"updates": {Funcs[*corev1.Pod]{Updated: func(_, _ *corev1.Pod) {}}, 0, 2, 0},
		"deletes": {Funcs[*corev1.Pod]{Deleted: func(*corev1.Pod) {}}, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTestCore(t, packedCold(), 1)
			r := f.register(row.handler, HandlerOptions{})
			f.list("1")
			f.start()
			f.settled(r)
			decoded := f.decodes()
			for i, d := range []deltafifo.Delta{
				deltaOf(deltafifo.Added, kit.Pod("a", "2")), deltaOf(deltafifo.Modified, kit.Pod("a", "3")), deltaOf(deltafifo.Deleted, kit.Pod("a", "4")),
			} {
				f.apply(d)
				f.settled(r)
				decoded([]int{row.added, row.updated, row.deleted}[i], d.Op)
			}
		})
	}
}

// The backlog of a stuck handler stays packed.
func TestAStuckHandlerDecodesNothing(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedCold(), 1)
	gate := make(chan struct{})
	var lines []string
	r := f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
		<-gate
		lines = append(lines, line(c))
	}), HandlerOptions{})
	f.list("1")
	f.start()
	f.settled(r)
	f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "2")))
	eventually(t, func() bool { return f.Kind().Decodes() > 0 }, "the handler has its first object")
	decoded := f.decodes()
	for i := range 1000 {
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(3+i))))
	}
	require.Equal(t, 1001, r.Backlog())
	decoded(0)
	close(gate)
	f.settled(r)
	require.Equal(t, "add a@2", lines[0])
	for i, l := range lines[1:] {
		require.Equal(t, fmt.Sprintf("update a@%d a@%d", 2+i, 3+i), l)
	}
	decoded(2000)
}

// With a budget, the old object of an update is decoded once for sixteen handlers, which get the same pointer. The
// new object has just arrived and is not decoded.
func TestSixteenHandlersShareADecodedObject(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedIn(NewBudget(1<<20)), 1)
	var regs []*registration
	var mu sync.Mutex
	olds, news := map[*corev1.Pod]int{}, map[*corev1.Pod]int{}
	for range 16 {
		regs = append(regs, f.register(Funcs[*corev1.Pod]{Updated: func(old, now *corev1.Pod) {
			mu.Lock()
			defer mu.Unlock()
			olds[old]++
			news[now]++
		}}, HandlerOptions{}))
	}
	f.list("1", kit.Pod("a", "1"))
	f.start()
	f.settled(regs...)
	coolDown(f)
	before := f.Kind().Decodes()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
	f.settled(regs...)
	require.Len(t, olds, 1)
	require.Len(t, news, 1)
	for old, n := range olds {
		require.Equal(t, "a@1", kit.Text(old))
		require.Equal(t, 16, n)
	}
	require.Less(t, f.Kind().Decodes()-before, uint64(16), "some may have decoded it at once")
}

// coolDown makes all objects cold by filling the budget with others.
func coolDown(f *testCore) {
	for i := range 4000 {
		_ = f.FromObject(podWith(fmt.Sprint("other-", i), func(p *corev1.Pod) { p.Status.Message = fmt.Sprintf("%01000d", i) }))
	}
}

// In a resync, old and new are the same object.
func TestAResyncOfPackedObjects(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"))
		o := packedCold()
		o.Resync = 10 * time.Second
		i := New(sourceOf(s), o)
		same := 0
		_, err := i.Handle(Funcs[*corev1.Pod]{Updated: func(old, now *corev1.Pod) {
			if old == now {
				same++
			}
		}}, HandlerOptions{})
		require.NoError(t, err)
		start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		pass(15 * time.Second)
		require.Equal(t, 1, same)
	})
}

// If a program writes into a hot object, other readers see it until the object is cold. The stored object stays
// intact.
func TestAProgramThatWritesIntoAHotObject(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedIn(NewBudget(1<<20)), 1)
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
	b := NewBudget(64 << 10)
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
	eventually(t, func() bool { goruntime.GC(); return p.Value() == nil }, "it is kept alive")
}

// Replaced versions, deleted objects and their bases are garbage.
func TestDeadPackedObjectsAreGarbage(t *testing.T) {
	unverified(t)
	f := newTestCore(t, packedCold(), 1)
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
	b := NewBudget(math.MaxInt64)
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
	f := newTestCore(t, packedIn(NewBudget(16<<10)), 1)
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
				p, ok := podsIn(f.Core).Get(named(fmt.Sprint("web-", i)))
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
			f := newTestCore(t, packedIn(NewBudget(limit)), 1)
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
			told := m.Weight.Last()
			t.Logf("packed %d, decoded %d, objects %d, engine %d: %d of %d on the heap", told.Packed, told.Decoded, told.Objects, told.Engine, told.Objects+told.Engine, grown)
			require.InEpsilon(t, grown, told.Objects+told.Engine, 0.15)
			require.Equal(t, told.Objects, told.Packed+told.Decoded)
			goruntime.KeepAlive(f)
		})
	}
}

// A watch that sends the same pods over and over does not use more and more memory.
func TestUpdatesOfPackedObjectsThroughAnInformer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"))
		i := New(sourceOf(s), packedCold())
		j := &journal{}
		_, err := i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		for n := range 100 {
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+n)))
		}
		synctest.Wait()
		lines := j.take()
		require.Len(t, lines, 101)
		require.Equal(t, "update a@109 a@110", lines[100])
		require.Zero(t, pinnedIn(i.core))
	})
}
