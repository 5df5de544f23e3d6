package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// factoryOptions are the options of both modules' factories.
type factoryOptions struct {
	namespace string
	tweak     func(*metav1.ListOptions)
	transform cache.TransformFunc
	resyncs   map[metav1.Object]time.Duration
}

// newFactory makes the factory of a rig.
func newFactory(r rig, c kubernetes.Interface, resync time.Duration, o factoryOptions) informers.SharedInformerFactory {
	if r.name == clientgoRig.name {
		return informers.NewSharedInformerFactoryWithOptions(c, resync, informers.WithNamespace(o.namespace),
			informers.WithTweakListOptions(o.tweak), informers.WithTransform(o.transform), informers.WithCustomResyncConfig(o.resyncs))
	}
	return factory.NewSharedInformerFactoryWithOptions(c, resync, factory.WithNamespace(o.namespace),
		factory.WithTweakListOptions(o.tweak), factory.WithTransform(o.transform), factory.WithCustomResyncConfig(o.resyncs))
}

// startFactory starts a factory until the test ends.
func startFactory(t T, f informers.SharedInformerFactory) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	f.StartWithContext(ctx)
	stop = func() { cancel(); f.Shutdown() }
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

func podIn(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}}}
}

// B104, T14: a factory has one informer per type, for all accessors.
func TestContract_B104_T14_OneOfAType(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(), 0, factoryOptions{})
		pods := f.Core().V1().Pods().Informer()
		require.NoError(t, pods.GetStore().Add(podIn("prod", "mark")))
		marked := func(i cache.SharedIndexInformer) bool { return len(i.GetStore().ListKeys()) == 1 }
		require.True(t, marked(f.Core().V1().Pods().Informer()))
		generic, err := f.ForResource(podResource)
		require.NoError(t, err)
		require.True(t, marked(generic.Informer()))
		require.False(t, marked(f.Core().V1().Nodes().Informer()))
	})
}

// B105, T14: Start starts requested informers that are not running yet. After Shutdown it starts none.
func TestContract_B105_T14_Starting(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(podIn("prod", "web")), 0, factoryOptions{})
		pods := f.Core().V1().Pods().Informer()
		startFactory(t, f)
		require.True(t, pods.HasSynced())
		nodes := f.Core().V1().Nodes().Informer()
		synctest.Wait()
		require.False(t, nodes.HasSynced())
		startFactory(t, f)
		stop := startFactory(t, f)
		require.True(t, nodes.HasSynced())
		_ = stop
	})
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(), 0, factoryOptions{})
		f.Shutdown()
		pods := f.Core().V1().Pods().Informer()
		startFactory(t, f)
		require.False(t, pods.HasSynced())
	})
}

// B106: Shutdown waits for the informers, but does not stop them.
func TestContract_B106_Shutdown(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(podIn("prod", "web")), 0, factoryOptions{})
		pods := f.Core().V1().Pods().Informer()
		ctx, cancel := context.WithCancel(t.Context())
		f.StartWithContext(ctx)
		down := make(chan struct{})
		go func() { defer close(down); f.Shutdown() }()
		time.Sleep(time.Hour)
		require.False(t, pods.IsStopped())
		cancel()
		<-down
		require.True(t, pods.IsStopped())
	})
}

// B107, T14: WaitForCacheSync covers the started informers.
func TestContract_B107_T14_WaitForCacheSync(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(), 0, factoryOptions{})
		f.Core().V1().Pods().Informer()
		require.Empty(t, f.WaitForCacheSync(t.Context().Done()))
		startFactory(t, f)
		f.Core().V1().Nodes().Informer()
		require.Len(t, f.WaitForCacheSync(t.Context().Done()), 1)
		for _, synced := range f.WaitForCacheSync(t.Context().Done()) {
			require.True(t, synced)
		}
	})
}

// B108: options apply to all types. A resync period for a type takes precedence.
func TestContract_B108_Options(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		client := fake.NewClientset(podIn("prod", "web"), podIn("prod", "db"), podIn("test", "web"))
		f := newFactory(r, client, time.Hour, factoryOptions{
			namespace: "prod",
			tweak:     func(o *metav1.ListOptions) { o.LabelSelector = "app=web" },
			transform: func(obj any) (any, error) {
				obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
				return obj, nil
			},
			resyncs: map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute},
		})
		rec := &kit.Recorder{}
		_, err := f.Core().V1().Pods().Informer().AddEventHandler(rec.Handler())
		require.NoError(t, err)
		startFactory(t, f)
		found, err := f.Core().V1().Pods().Lister().List(labels.Everything())
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "prod/web", found[0].Namespace+"/"+found[0].Name)
		require.Equal(t, "yes", found[0].Annotations["seen"])
		rec.Take()
		time.Sleep(time.Minute + halfAMinute)
		require.Len(t, rec.Take(), 1)
	})
}

// B109: unrequested informers do not run. Unknown resources are an error.
func TestContract_B109_Registering(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		client := fake.NewClientset()
		f := newFactory(r, client, 0, factoryOptions{})
		f.Core().V1().Pods()
		startFactory(t, f)
		require.Empty(t, client.Actions())
		f.Core().V1().Pods().Lister()
		startFactory(t, f)
		require.NotEmpty(t, client.Actions())
		_, err := f.ForResource(podResource.GroupVersion().WithResource("unheard-of"))
		require.Error(t, err)
	})
}

// B110: informers have one index, by namespace.
func TestContract_B110_TheIndexOfNamespaces(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(podIn("prod", "web"), podIn("test", "web")), 0, factoryOptions{})
		x := f.Core().V1().Pods().Informer().GetIndexer()
		require.Len(t, x.GetIndexers(), 1)
		startFactory(t, f)
		keys, err := x.IndexKeys(cache.NamespaceIndex, "prod")
		require.NoError(t, err)
		require.Equal(t, []string{"prod/web"}, keys)
	})
}

// T20: InformerFor calls the user's constructor. The first constructor for a type is used.
func TestContract_T20_InformerFor(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(podIn("prod", "web")), 0, factoryOptions{})
		mine := r.shared(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		calls := 0
		construct := func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { calls++; return mine }
		require.Same(t, mine, f.InformerFor(&corev1.Pod{}, construct))
		require.Same(t, mine, f.InformerFor(&corev1.Pod{}, construct))
		require.Equal(t, 1, calls)
		startFactory(t, f)
		require.Equal(t, []string{"default/a"}, f.Core().V1().Pods().Informer().GetStore().ListKeys())
		require.Equal(t, 1, calls)
	})
}

// D20: a factory can have informers of one type for several scopes. Each runs while it is leased.
func TestContract_D20_Leases(t *testing.T) {
	ourClientgoAPI(t, "its factory has one informer per type, and cannot stop a single informer", func(t T, _ rig) {
		f := factory.NewSharedInformerFactory(fake.NewClientset(podIn("prod", "web"), podIn("test", "web"), podIn("dev", "db")), 0)
		startFactory(t, f)
		both, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Namespaces: []string{"prod", "dev"}})
		require.NoError(t, err)
		one, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Labels: "app=web"})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, 2, both.Informer().Indexer().Len())
		require.Equal(t, 2, one.Informer().Indexer().Len())
		one.Release()
		synctest.Wait()
		require.True(t, one.Informer().Status().Stopped)
		require.False(t, both.Informer().Status().Stopped)
		again, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Labels: "app=web"})
		require.NoError(t, err)
		synctest.Wait()
		require.True(t, again.Informer().Status().Running)
		again.Release()
		both.Release()
	})
}

// B112, B113, B114: the results of listers.
func TestContract_B112_B113_B114_Listers(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		f := newFactory(r, fake.NewClientset(podIn("prod", "web"), podIn("prod", "db"), podIn("test", "web")), 0, factoryOptions{})
		pods := f.Core().V1().Pods().Lister()
		startFactory(t, f)
		count := func(found []*corev1.Pod, err error) int {
			require.NoError(t, err)
			return len(found)
		}
		web := labels.SelectorFromSet(labels.Set{"app": "web"})
		require.Equal(t, 3, count(pods.List(labels.Everything())))
		require.Equal(t, 2, count(pods.List(web)))
		require.Equal(t, 2, count(pods.Pods("prod").List(labels.Everything())))
		require.Equal(t, 1, count(pods.Pods("prod").List(web)))
		none, err := pods.List(labels.Nothing())
		require.NoError(t, err)
		require.Empty(t, none)
		_, err = pods.Pods("prod").Get("nope")
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		one, err := pods.Pods("test").Get("web")
		require.NoError(t, err)
		require.Equal(t, "test", one.Namespace)
	})
}

// D21, B112: a nil selector selects everything.
func TestContract_D21_B112_ANilSelector(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{indexes: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}}).start()
		var found []*corev1.Pod
		var err error
		switch s := w.subject.(type) {
		case typedSubject:
			l := s.informer.Lister()
			found, err = l.List(nil)
		case sharedSubject:
			if r.name == clientgoRig.name {
				found, err = corelisters.NewPodLister(s.informer.GetIndexer()).List(nil)
				break
			}
			f := factory.NewSharedInformerFactory(fake.NewClientset(podIn("prod", "web")), 0)
			pods, errs := factory.For[*corev1.Pod](f)
			require.NoError(t, errs)
			startFactory(t, f)
			found, err = pods.Lister().List(nil)
		}
		require.NoError(t, err)
		require.Len(t, found, 1)
	})
}
