package conformance_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/factory"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// T16, T8: an informer of a fake clientset gets the list and each change, even if the objects have no
// versions.
func TestContract_T16_T8_FakeClientsets(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		client := fake.NewClientset(podIn("prod", "web"))
		f := newFactory(r, client, 0, factoryOptions{})
		rec := &kit.Recorder{}
		i := f.Core().V1().Pods().Informer()
		_, err := i.AddEventHandler(named(rec))
		require.NoError(t, err)
		startFactory(t, f)
		require.True(t, i.HasSynced())
		ctx := t.Context()
		pods := client.CoreV1().Pods("prod")
		_, err = pods.Create(ctx, podIn("prod", "db"), metav1.CreateOptions{})
		require.NoError(t, err)
		for n := range 3 {
			p := podIn("prod", "db")
			p.Labels["n"] = fmt.Sprint(n)
			_, err = pods.Update(ctx, p, metav1.UpdateOptions{})
			require.NoError(t, err)
		}
		require.NoError(t, pods.Delete(ctx, "web", metav1.DeleteOptions{}))
		require.Equal(t, []string{"add web", "add db", "update db", "update db", "update db", "delete web"}, rec.Take())
		require.Equal(t, []string{"prod/db"}, i.GetStore().ListKeys())
	})
}

// named returns a handler that records only the names of objects.
func named(rec *kit.Recorder) cache.ResourceEventHandler {
	name := func(obj any) string { return obj.(metav1.Object).GetName() }
	return funcs{
		AddFunc:    func(obj any, _ bool) { rec.Add("add "+name(obj), obj) },
		UpdateFunc: func(_, obj any) { rec.Add("update "+name(obj), obj) },
		DeleteFunc: func(obj any) { rec.Add("delete "+name(obj), obj) },
	}
}

// genericFactory is the common method of the factories for dynamic and metadata clients.
type genericFactory interface{ Start(stop <-chan struct{}) }

func startGenericFactory(t T, f genericFactory, shutdown func()) {
	stop := make(chan struct{})
	f.Start(stop)
	t.Cleanup(func() { close(stop); shutdown() })
	synctest.Wait()
}

// T16, B104: an informer of a fake dynamic client gets the list and each change. The factory has one
// informer per resource.
func TestContract_T16_B104_FakeDynamicClients(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, podIn("prod", "web"))
		var f dynamicinformer.DynamicSharedInformerFactory = factory.NewDynamicSharedInformerFactory(client, 0)
		if r.name == clientgoRig.name {
			f = dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
		}
		i := f.ForResource(podResource).Informer()
		require.Same(t, i, f.ForResource(podResource).Informer())
		rec := &kit.Recorder{}
		_, err := i.AddEventHandler(named(rec))
		require.NoError(t, err)
		startGenericFactory(t, f, f.Shutdown)
		require.True(t, i.HasSynced())
		obj := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "prod", "name": "db"},
		}}
		_, err = client.Resource(podResource).Namespace("prod").Create(t.Context(), obj, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.Resource(podResource).Namespace("prod").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		require.Equal(t, []string{"add web", "add db", "delete web"}, rec.Take())
		_, err = f.ForResource(podResource).Lister().ByNamespace("prod").Get("db")
		require.NoError(t, err)
	})
}

// T16, B104: the same holds for a fake metadata client.
func TestContract_T16_B104_FakeMetadataClients(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		s := metadatafake.NewTestScheme()
		require.NoError(t, metav1.AddMetaToScheme(s))
		meta := func(name string) *metav1.PartialObjectMetadata {
			return &metav1.PartialObjectMetadata{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name},
			}
		}
		client := metadatafake.NewSimpleMetadataClient(s, meta("web"))
		var f metadatainformer.SharedInformerFactory = factory.NewMetadataSharedInformerFactory(client, 0)
		if r.name == clientgoRig.name {
			f = metadatainformer.NewSharedInformerFactory(client, 0)
		}
		i := f.ForResource(podResource).Informer()
		rec := &kit.Recorder{}
		_, err := i.AddEventHandler(named(rec))
		require.NoError(t, err)
		startGenericFactory(t, f, f.Shutdown)
		require.True(t, i.HasSynced())
		_, err = client.Resource(podResource).Namespace("prod").(metadatafake.MetadataClient).CreateFake(meta("db"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.Resource(podResource).Namespace("prod").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		require.Equal(t, []string{"add web", "add db", "delete web"}, rec.Take())
	})
}

// B9, B57: an informer of FakeControllerSource, client-go's source for tests, gets every change. A
// missed deletion is delivered as a tombstone.
func TestContract_B9_B57_FakeControllerSource(t *testing.T) {
	each(t, func(t T, r rig) {
		source := fcache.NewFakeControllerSource()
		t.Cleanup(source.Shutdown)
		source.Add(kit.Pod("a", ""))
		source.Add(kit.Pod("b", ""))
		w := &world{subject: r.make(t, nonStreaming{source}, settings{}), t: t}
		rec, reg := w.addRecorder()
		w.start()
		require.Equal(t, []string{"initial a@1", "initial b@2"}, rec.Sorted())
		require.True(t, w.synced() && reg.synced())
		source.Modify(kit.Pod("a", ""))
		source.Add(kit.Pod("c", ""))
		source.Delete(kit.Pod("b", ""))
		require.Equal(t, []string{"update a@1 a@3", "add c@4", "delete b@5"}, rec.Take())

		// Missed changes are detected when the watch is reopened.
		source.ModifyDropWatch(kit.Pod("a", ""))
		source.AddDropWatch(kit.Pod("d", ""))
		source.DeleteDropWatch(kit.Pod("c", ""))
		require.Empty(t, rec.Take())
		source.ResetWatch()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"add d@7", "delete tombstone default/c c@4", "update a@3 a@6"}, rec.Sorted())
		require.Equal(t, []string{"default/a", "default/d"}, w.keys())
		w.stop()
	})
}

// nonStreaming is a FakeControllerSource that says that it cannot stream.
type nonStreaming struct{ *fcache.FakeControllerSource }

func (nonStreaming) IsWatchListSemanticsUnSupported() bool { return true }

// D12, B70: our informer detects that a source does not stream, and lists.
func TestContract_D12_B70_ABareFakeControllerSource(t *testing.T) {
	ours(t, "unless its source says that it cannot stream, client-go waits forever", func(t T, r rig) {
		source := fcache.NewFakeControllerSource()
		t.Cleanup(source.Shutdown)
		source.Add(kit.Pod("a", ""))
		w := &world{subject: r.make(t, source, settings{}), t: t}
		rec, _ := w.addRecorder()
		w.start()
		time.Sleep(time.Minute)
		source.Modify(kit.Pod("a", ""))
		require.Equal(t, []string{"initial a@1", "update a@1 a@2"}, rec.Take())
		w.stop()
	})
}

// B1, B54: an informer works with apimachinery's fake watches.
func TestContract_B1_B54_FakeWatchers(t *testing.T) {
	type fakeWatcher interface {
		watch.Interface
		Add(runtime.Object)
		Modify(runtime.Object)
		Delete(runtime.Object)
		Reset()
	}
	for name, makes := range map[string]func() fakeWatcher{
		"FakeWatcher":         func() fakeWatcher { return watch.NewFake() },
		"RaceFreeFakeWatcher": func() fakeWatcher { return watch.NewRaceFreeFake() },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t T, r rig) { driveFakeWatcher(t, r, makes()) }, rigs...)
		})
	}
}

func driveFakeWatcher(t T, r rig, f interface {
	watch.Interface
	Add(runtime.Object)
	Modify(runtime.Object)
	Delete(runtime.Object)
}) {
	s := kit.NewScript("10", kit.Pod("a", "1"))
	s.OnWatch = func(context.Context, metav1.ListOptions) (watch.Interface, error) { return f, nil }
	w := r.world(t, s)
	rec, _ := w.addRecorder()
	w.start()
	f.Modify(kit.Pod("a", "11"))
	f.Add(kit.Pod("b", "12"))
	f.Delete(kit.Pod("a", "13"))
	require.Equal(t, []string{"initial a@1", "update a@1 a@11", "add b@12", "delete a@13"}, rec.Take())
	w.stop()
}

// B115, B116: client-go's mutation cache works over any store.
func TestContract_B115_B116_MutationCache(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		store := w.shared().GetIndexer()
		mutations := cache.NewIntegerResourceVersionMutationCache(klog.Background(), store, store, time.Hour, true)
		newest := func(key string) string {
			obj, exists, err := mutations.GetByKey(key)
			require.NoError(t, err)
			if !exists {
				return ""
			}
			return kit.Text(obj)
		}
		require.Equal(t, "a@1", newest("default/a"))
		mutations.Mutation(kit.Pod("a", "11"))
		mutations.Mutation(kit.Pod("b", "12"))
		require.Equal(t, "a@11", newest("default/a"))
		require.Equal(t, "b@12", newest("default/b"))
		w.Send(watch.Modified, kit.Pod("a", "15"))
		synctest.Wait()
		require.Equal(t, "a@15", newest("default/a"))

		// If a handler passes events to the mutation cache, the cache ignores a mutation that is older
		// than a delete.
		w.addHandler(funcs{
			UpdateFunc: func(_, obj any) { mutations.OnAddOrUpdate(obj.(podType)) },
			DeleteFunc: func(obj any) { mutations.OnDelete(obj.(podType)) },
		})
		mutations.Mutation(kit.Pod("a", "16"))
		w.Send(watch.Deleted, kit.Pod("a", "17"))
		synctest.Wait()
		require.Empty(t, newest("default/a"))
		mutations.Mutation(kit.Pod("a", "16"))
		require.Empty(t, newest("default/a"), "it must not come back")
	})
}

// T16: controllers accept a factory as an interface.
var _ informers.SharedInformerFactory = (*factory.Factory)(nil)
