package cache

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A program for client-go runs with this module after a change of its import.
func TestAProgramOfClientgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := NewSharedIndexInformer(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, 0, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
		var names []string
		reg, err := i.AddEventHandler(ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			key, err := MetaNamespaceKeyFunc(obj)
			require.NoError(t, err)
			names = append(names, key)
		}})
		require.NoError(t, err)
		runInBackground(t, i.RunWithContext)
		require.True(t, WaitFor(t.Context(), "pods", i.HasSyncedChecker(), reg.HasSyncedChecker()))
		require.Equal(t, []string{"default/a"}, names)
		require.NoError(t, ShutDownEventHandler(i, reg))
		found, err := NewGenericLister(i.GetIndexer(), corev1.Resource("pods")).ByNamespace("default").Get("a")
		require.NoError(t, err)
		require.Equal(t, "1", found.(*corev1.Pod).ResourceVersion)
	})
}

// typedRecorder is a typed handler that records its events.
type typedRecorder struct{ lines []string }

func (h *typedRecorder) OnAdd(p *corev1.Pod, initial bool) {
	if initial {
		h.lines = append(h.lines, "initial "+p.Name)
	}
}
func (h *typedRecorder) OnUpdate(_, p *corev1.Pod) { h.lines = append(h.lines, "update "+p.Name) }
func (h *typedRecorder) OnDelete(d DeletedObject[*corev1.Pod]) {
	h.lines = append(h.lines, "delete "+d.GetObjectName().Name)
}

// client-go's typed API works with this module's informer.
func TestTypedViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		i := NewTypedSharedIndexInformer[*corev1.Pod](NewSharedIndexInformer(s, &corev1.Pod{}, 0, Indexers{}))
		require.NoError(t, i.AddTypedIndexers(TypedIndexers[*corev1.Pod]{"name": func(p *corev1.Pod) ([]string, error) { return []string{p.Name}, nil }}))
		h := &typedRecorder{}
		reg, err := i.AddTypedEventHandler(h, HandlerOptions{})
		require.NoError(t, err)
		runInBackground(t, i.RunWithContext)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		s.Send(watch.Deleted, kit.Pod("a", "12"))
		s.Send(watch.Added, kit.Pod("b", "13"))
		synctest.Wait()
		require.True(t, reg.HasSynced())
		require.Equal(t, []string{"initial a", "update a", "delete a"}, h.lines)
		found, err := i.GetTypedIndexer().ByTypedIndex("name", "b")
		require.NoError(t, err)
		require.Equal(t, "13", found[0].ResourceVersion)
		require.NoError(t, ShutDownEventHandler(i, reg))
		require.NoError(t, i.RemoveEventHandler(reg))
	})
}

func TestTheOtherInformers(t *testing.T) {
	rename := func(obj any) (any, error) {
		obj.(*corev1.Pod).Labels = map[string]string{"seen": "yes"}
		return obj, nil
	}
	byName := Indexers{"name": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil }}
	for name, makes := range map[string]func(h ResourceEventHandler) (Store, Controller){
		"plain": func(h ResourceEventHandler) (Store, Controller) {
			return NewTransformingInformer(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, 0, h, rename)
		},
		"indexed": func(h ResourceEventHandler) (Store, Controller) {
			return NewTransformingIndexerInformer(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, 0, h, byName, rename)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := ""
				store, c := makes(ResourceEventHandlerFuncs{AddFunc: func(obj any) { seen = obj.(*corev1.Pod).Labels["seen"] }})
				runInBackground(t, c.RunWithContext)
				require.True(t, c.HasSynced())
				require.Equal(t, "yes", seen)
				require.Equal(t, []string{"default/a"}, store.ListKeys())
				if x, ok := store.(Indexer); name == "indexed" {
					require.True(t, ok)
					found, err := x.ByIndex("name", "a")
					require.NoError(t, err)
					require.Len(t, found, 1)
				}
			})
		})
	}
}

func TestReflectorsAndQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, r := NewNamespaceKeyedIndexerAndReflector(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, 0)
		runInBackground(t, func(ctx context.Context) { r.RunWithContext(ctx) })
		found, err := x.ByIndex(NamespaceIndex, "default")
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "10", r.LastSyncResourceVersion())

		q := NewDeltaFIFO(MetaNamespaceKeyFunc, nil)
		runInBackground(t, func(ctx context.Context) {
			NewNamedReflector("pods", kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, q, 0).RunWithContext(ctx)
		})
		got, err := q.Pop(func(any, bool) error { return nil })
		require.NoError(t, err)
		require.Equal(t, Sync, got.(Deltas).Newest().Type)

		var pushed []any
		u := NewUndeltaStore(func(all []any) { pushed = all }, MetaNamespaceKeyFunc)
		runInBackground(t, func(ctx context.Context) {
			NewReflector(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, u, 0).RunWithContext(ctx)
		})
		require.Len(t, pushed, 1)
	})
}

func TestStoreOptions(t *testing.T) {
	name, err := NewInformerName(t.Name())
	require.NoError(t, err)
	defer name.Release()
	var o informer.StoreOptions
	WithStoreMetrics(name.WithResource(corev1.SchemeGroupVersion.WithResource("pods")), nil)(&o)
	require.True(t, o.Identifier.Reserved())
	store := NewStore(MetaNamespaceKeyFunc, WithTransformer(func(obj any) (any, error) { return obj.(*corev1.Pod).Name, nil }))
	require.NoError(t, store.Add(kit.Pod("a", "1")))
	require.Equal(t, []any{"a"}, store.List())
}

func TestAController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewStore(DeletionHandlingMetaNamespaceKeyFunc)
		c := New(&Config{
			Queue:         NewDeltaFIFOWithOptions(DeltaFIFOOptions{KnownObjects: store, EmitDeltaTypeReplaced: true}),
			ListerWatcher: kit.NewScript("10", kit.Pod("a", "1")), ObjectType: &corev1.Pod{},
			Process: func(obj any, _ bool) error { return store.Add(obj.(Deltas).Newest().Object) },
		})
		require.False(t, c.HasSynced())
		runInBackground(t, c.RunWithContext)
		require.True(t, c.HasSynced())
		require.Equal(t, []string{"default/a"}, store.ListKeys())
		require.Equal(t, "10", c.LastSyncResourceVersion())
	})
}

// B115, B116: client-go's mutation cache works with this module's store.
func TestContract_B115_B116_TheMutationCache(t *testing.T) {
	x := NewIndexer(MetaNamespaceKeyFunc, Indexers{})
	require.NoError(t, x.Add(kit.Pod("a", "5")))
	m := NewIntegerResourceVersionMutationCache(klog.Background(), x, x, time.Minute, false)
	m.Mutation(kit.Pod("a", "7"))
	m.Mutation(kit.Pod("new", "7"))
	get := func(key string) string {
		obj, ok, err := m.GetByKey(key)
		require.NoError(t, err)
		if !ok {
			return "none"
		}
		return obj.(*corev1.Pod).ResourceVersion
	}
	require.Equal(t, "7", get("default/a"), "one's own write, which the store has not seen")
	require.Equal(t, "none", get("default/new"), "unless adds are included")
	require.NoError(t, x.Update(kit.Pod("a", "8")))
	require.Equal(t, "8", get("default/a"), "the newer one")
}
