package controllerruntime

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// change is a call of a handler.
type change struct {
	verb     string
	key      string
	initial  bool
	old, new client.Object
}

// recorder is a handler that records its calls.
type recorder struct {
	mu      sync.Mutex
	changes []change
}

var _ toolscache.ResourceEventHandler = (*recorder)(nil)

func (r *recorder) OnAdd(o any, initial bool) {
	r.keep(change{verb: "add", initial: initial, new: o.(client.Object)})
}

func (r *recorder) OnUpdate(old, o any) {
	r.keep(change{verb: "update", old: old.(client.Object), new: o.(client.Object)})
}

func (r *recorder) OnDelete(o any) {
	verb := "delete"
	if tombstone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		verb, o = "lose", tombstone.Obj
	}
	r.keep(change{verb: verb, new: o.(client.Object)})
}

func (r *recorder) keep(c change) {
	r.mu.Lock()
	defer r.mu.Unlock()

	c.key = client.ObjectKeyFromObject(c.new).String()
	r.changes = append(r.changes, c)
}

// recorded returns the changes so far.
func (r *recorder) recorded() []change {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.changes[:len(r.changes):len(r.changes)]
}

// next waits for the change with this index.
func (r *recorder) next(t *testing.T, i int) change {
	t.Helper()
	await(t, "a change", func() bool { return len(r.recorded()) > i })
	return r.recorded()[i]
}

// handle registers a recorder.
func handle(t *testing.T, i cache.Informer) (*recorder, toolscache.ResourceEventHandlerRegistration) {
	t.Helper()
	recorded := new(recorder)
	registration, err := i.AddEventHandler(recorded)
	require.NoError(t, err)
	return recorded, registration
}

// informerOf returns the synced informer for a flavour of pods.
func informerOf(t *testing.T, c cache.Cache, f flavour) cache.Informer {
	t.Helper()
	i, err := c.GetInformer(t.Context(), f.pod())
	require.NoError(t, err)
	return i
}

func TestHandlerAddedBeforeTheStart(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"))
		c := r.cache(t, cache.Options{})
		i := informerOf(t, c, f)
		recorded, registration := handle(t, i)
		assert.False(t, registration.HasSynced())
		assert.False(t, i.HasSynced())
		t.Cleanup(r.start(t, c))

		receive(t, registration.HasSyncedChecker().Done())
		assert.True(t, registration.HasSynced())
		require.Len(t, recorded.recorded(), 1)
		added := recorded.recorded()[0]
		assert.Equal(t, "add", added.verb)
		assert.Equal(t, "a/one", added.key)
		assert.True(t, added.initial)
	})
}

func TestHandlerAddedAfterTheStart(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		one, two := pod("a", "one", "web"), pod("a", "two", "web")
		r.create(t, one, two)
		c := r.started(t, cache.Options{})
		i := informerOf(t, c, f)
		assert.True(t, i.HasSynced())
		receive(t, i.HasSyncedChecker().Done())
		recorded, registration := handle(t, i)
		receive(t, registration.HasSyncedChecker().Done())
		require.Len(t, recorded.recorded(), 2)
		for _, added := range recorded.recorded() {
			assert.Equal(t, "add", added.verb)
			assert.True(t, added.initial)
		}

		three := pod("a", "three", "web")
		r.create(t, three)
		one.Labels["app"] = "db"
		r.update(t, one)
		r.remove(t, two)
		added, updated, deleted := recorded.next(t, 2), recorded.next(t, 3), recorded.next(t, 4)
		assert.Equal(t, "add", added.verb)
		assert.False(t, added.initial)
		assert.Equal(t, three.UID, added.new.GetUID())
		assert.Equal(t, "update", updated.verb)
		assert.Equal(t, "web", updated.old.GetLabels()["app"])
		assert.Equal(t, "db", updated.new.GetLabels()["app"])
		assert.Equal(t, "delete", deleted.verb)
		assert.Equal(t, "a/two", deleted.key)
	})
}

// A handler gets metadata objects with their kind, like unstructured objects. controller-runtime writes
// the kind into each object of a watch before the informer gets it.
func TestHandlersGetTheKind(t *testing.T) {
	for _, f := range []flavour{generic, metadataOnly} {
		t.Run(f.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				r.create(t, pod("a", "one", "web"))
				c := r.started(t, cache.Options{})
				recorded, registration := handle(t, informerOf(t, c, f))
				receive(t, registration.HasSyncedChecker().Done())
				r.create(t, pod("a", "two", "web"))
				for i := range 2 {
					assert.Equal(t, podKind, recorded.next(t, i).new.GetObjectKind().GroupVersionKind())
				}
			})
		})
	}
}

func TestHandlersOfOneInformerShareIt(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		c := r.started(t, cache.Options{})
		first, second := informerOf(t, c, typed), informerOf(t, c, typed)
		byKind, err := c.GetInformerForKind(t.Context(), podKind)
		require.NoError(t, err)
		assert.Same(t, first, second)
		assert.Same(t, first, byKind)
		one, _ := handle(t, first)
		two, _ := handle(t, second)
		same, err := first.AddEventHandler(one)
		require.NoError(t, err)
		receive(t, same.HasSyncedChecker().Done())
		r.create(t, pod("a", "one", "web"))
		one.next(t, 1) // a handler that is added twice is called twice
		two.next(t, 0)
		r.watches(t, 1)
	})
}

func TestARemovedHandlerGetsNothing(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		c := r.started(t, cache.Options{})
		i := informerOf(t, c, typed)
		gone, registration := handle(t, i)
		stays, _ := handle(t, i)
		r.create(t, pod("a", "one", "web"))
		gone.next(t, 0)
		require.NoError(t, i.RemoveEventHandler(registration))
		require.NoError(t, i.RemoveEventHandler(registration), "twice")
		r.create(t, pod("a", "two", "web"))
		stays.next(t, 1)
		assert.Len(t, gone.recorded(), 1)
	})
}

func TestHandlerIsNotAddedToWhatHasStopped(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		c := r.cache(t, cache.Options{})
		stop := r.start(t, c)
		i := informerOf(t, c, typed)
		_, registration := handle(t, i)
		stop()
		assert.True(t, i.IsStopped())
		_, err := i.AddEventHandler(new(recorder))
		require.Error(t, err)
		require.Error(t, i.AddIndexers(toolscache.Indexers{"late": toolscache.MetaNamespaceIndexFunc}))
		require.NoError(t, i.RemoveEventHandler(registration))
	})
}

// With a SyncPeriod, handlers periodically get every object again.
func TestSyncPeriod(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.create(t, pod("a", "one", "web"))
		period := 500 * time.Millisecond // raised to a second
		c := r.started(t, cache.Options{SyncPeriod: &period})
		recorded, _ := handle(t, informerOf(t, c, typed))
		again := recorded.next(t, 1)
		assert.Equal(t, "update", again.verb)
		assert.Same(t, again.old, again.new)
	})
}

// A watch that expires while objects change is followed by a new list. Both informers deliver the
// changed objects. client-go's also sends an update for every unchanged object (D14).
func TestRelist(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		stays, changes, goes := pod("a", "stays", "web"), pod("a", "changes", "web"), pod("a", "goes", "web")
		r.create(t, stays, changes, goes)
		c := r.started(t, cache.Options{})
		recorded, registration := handle(t, informerOf(t, c, typed))
		receive(t, registration.HasSyncedChecker().Done())

		r.gate.shut()
		asked := len(r.gate.requests())
		r.server.CutWatches()
		await(t, "another watch", func() bool { return len(r.gate.requests()) > asked })
		changes.Labels["app"] = "db"
		r.update(t, changes)
		r.remove(t, goes)
		r.create(t, pod("a", "comes", "web"))
		r.server.Compact()
		r.gate.open()

		typed.has(t, c, []string{"a/changes", "a/comes", "a/stays"})
		want := map[string]string{"a/goes": "lose", "a/changes": "update", "a/comes": "add"}
		if !r.ours() {
			want["a/stays"] = "update"
		}
		got := map[string]string{}
		for len(got) < len(want) {
			one := recorded.next(t, 3+len(got))
			got[one.key] = one.verb
		}
		assert.Equal(t, want, got)
	})
}
