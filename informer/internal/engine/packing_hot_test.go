package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

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
		"deleted meanwhile": {1, func(f *testCore) { require.NoError(f.t, f.store().Delete(kit.Pod("a", "1"))) }, 1},
		"of another source": {2, func(f *testCore) { f.apply(ofPart(1, kit.Pod("a", "1"))) }, 2},
		"sent again":        {1, func(f *testCore) { f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "1"))) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := rig.PackedCold()
			o.Indexes = []indexer.Index[*corev1.Pod]{byApp}
			f := newTestCore(t, o, row.parts)
			f.list("10", kit.Pod("a", "1", kit.Label("app", "web")))
			decoded := f.decodes()
			stored, ok := f.in.Recall(object.Identity{Key: rig.Named("a"), UID: "uid-a", Version: "1"})
			require.True(t, ok)
			_, ok = f.in.Recall(object.Identity{Key: rig.Named("a"), UID: "uid-a", Version: "2"})
			require.False(t, ok)
			row.meanwhile(f)
			f.beginReplace()
			f.apply(deltafifo.Delta{Op: deltafifo.Added, Recalled: true, Key: rig.Named("a"), UID: "uid-a", Version: "1", Stamp: object.StampOf("uid-a"), Object: stored})
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
	f := newTestCore(t, rig.PackedCold(), 1)
	f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
	decoded := f.decodes()
	a, _ := f.Writer().Stored(rig.Named("a"))
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
	o := rig.PackedCold()
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
	o := rig.PackedCold()
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
	a, _ := f.Writer().Stored(rig.Named("a"))
	f.write(t, deltaOf(deltafifo.Modified, kit.Pod("b", "11")))
	b, _ := f.Writer().Stored(rig.Named("b"))
	full("20", kit.Pod("a", "1"), kit.Pod("b", "11"), kit.Pod("c", "12"))
	now, _ := f.Writer().Stored(rig.Named("a"))
	require.Same(t, a, now)
	now, _ = f.Writer().Stored(rig.Named("b"))
	require.Same(t, b, now)
	require.Equal(t, object.Identity{Key: rig.Named("b"), UID: "uid-b", Version: "11"}, f.Identity(rig.Named("b"), now))
	decoded(0)
	require.Equal(t, 3, f.Identities())
	full("30")
	require.Zero(t, f.Identities())
}

// Handlers get the delete of an object that was never stored, with its decoded final state.
func TestTheDeleteOfAnUnknownObjectIsDecoded(t *testing.T) {
	unverified(t)
	f := newTestCore(t, rig.PackedCold(), 1)
	decoded := f.decodes()
	var typedDeletes int
	var recorded []any
	typed := f.register(informer.Funcs[*corev1.Pod]{Deleted: func(*corev1.Pod) { typedDeletes++ }}, informer.HandlerOptions{})
	f.add(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) { recorded = append(recorded, obj) }})
	f.list("1")
	last := kit.Pod("a", "2")
	lost := deltaOf(deltafifo.Deleted, kit.Pod("b", "3"))
	lost.Object, lost.Lost = nil, true
	f.apply(deltaOf(deltafifo.Deleted, last), lost)
	f.start()
	f.settled(typed)
	rig.Eventually(t, func() bool { return f.Status().Handlers[1].Backlog == 0 }, "so has client-go's handler")
	require.Equal(t, 1, typedDeletes)
	require.Equal(t, []any{last}, recorded, "nothing is left of b")
	decoded(2)
}

// Only the objects that a handler needs are decoded.
func TestHandlersDecodeWhatTheyNeed(t *testing.T) {
	unverified(t)
	for name, row := range map[string]struct {
		handler                 informer.Handler[*corev1.Pod]
		added, updated, deleted int
	}{
		"all":     {informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {}), 1, 2, 1},
		"adds":    {informer.Funcs[*corev1.Pod]{Added: func(*corev1.Pod) {}}, 1, 0, 0},
		"updates": {informer.Funcs[*corev1.Pod]{Updated: func(_, _ *corev1.Pod) {}}, 0, 2, 0},
		"deletes": {informer.Funcs[*corev1.Pod]{Deleted: func(*corev1.Pod) {}}, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTestCore(t, rig.PackedCold(), 1)
			r := f.register(row.handler, informer.HandlerOptions{})
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
	f := newTestCore(t, rig.PackedCold(), 1)
	gate := make(chan struct{})
	var lines []string
	r := f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		<-gate
		lines = append(lines, rig.Line(c))
	}), informer.HandlerOptions{})
	f.list("1")
	f.start()
	f.settled(r)
	f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "2")))
	rig.Eventually(t, func() bool { return f.Kind().Decodes() > 0 }, "the handler has its first object")
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
	f := newTestCore(t, packedIn(informer.NewBudget(1<<20)), 1)
	var regs []informer.Registration
	var mu sync.Mutex
	olds, news := map[*corev1.Pod]int{}, map[*corev1.Pod]int{}
	for range 16 {
		regs = append(regs, f.register(informer.Funcs[*corev1.Pod]{Updated: func(old, now *corev1.Pod) {
			mu.Lock()
			defer mu.Unlock()
			olds[old]++
			news[now]++
		}}, informer.HandlerOptions{}))
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

// In a resync, old and new are the same object.
func TestAResyncOfPackedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		o := rig.PackedCold()
		o.Resync = 10 * time.Second
		i := informer.New(rig.SourceOf(s), o)
		same := 0
		_, err := i.Handle(informer.Funcs[*corev1.Pod]{Updated: func(old, now *corev1.Pod) {
			if old == now {
				same++
			}
		}}, informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		pass(15 * time.Second)
		require.Equal(t, 1, same)
	})
}

// A watch that sends the same pods over and over does not use more and more memory.
func TestUpdatesOfPackedObjectsThroughAnInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := informer.New(rig.SourceOf(s), rig.PackedCold())
		j := &rig.Journal{}
		_, err := i.Handle(j, informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		for n := range 100 {
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+n)))
		}
		synctest.Wait()
		lines := j.Take()
		require.Len(t, lines, 101)
		require.Equal(t, "update a@109 a@110", lines[100])
		require.Zero(t, pinnedIn(coreOf(i)))
	})
}
