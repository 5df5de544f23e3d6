package factory

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

var (
	podType  = reflect.TypeFor[*corev1.Pod]()
	nodeType = reflect.TypeFor[*corev1.Node]()
)

// Every way to request a type returns the same informer: the accessors, ForResource, For, and a
// later InformerFor.
func TestContract_B104_OneInformerOfAType(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	pods, err := For[*corev1.Pod](f)
	require.NoError(t, err)
	again, err := For[*corev1.Pod](f)
	require.NoError(t, err)
	require.Same(t, pods, again)
	require.Len(t, f.entries, 1)

	byResource, err := f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
	require.NoError(t, err)
	byHand := f.InformerFor(&corev1.Pod{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		require.Fail(t, "there is one already")
		return nil
	})
	require.Same(t, byResource.Informer(), byHand)
	require.NoError(t, f.Core().V1().Pods().Informer().GetIndexer().Add(newPod("prod", "web")))
	for _, store := range []cache.Store{byHand.GetStore(), byResource.Informer().GetStore(), pods.Shared().GetStore()} {
		require.Equal(t, []string{"prod/web"}, store.ListKeys())
	}
	found, err := f.Core().V1().Pods().Lister().Pods("prod").Get("web")
	require.NoError(t, err)
	typed, err := For[*corev1.Pod](f)
	require.NoError(t, err)
	same, err := typed.Lister().Namespace("prod").Get("web")
	require.NoError(t, err)
	require.Same(t, found, same)
	require.Len(t, f.entries, 1)
}

func TestContract_B105_T14_StartIsRepeatable(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewClientset(newPod("prod", "web"), newNode("n1"))
		f := NewSharedInformerFactory(client, 0)
		f.Core().V1().Pods().Informer()
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		begin(t, run, f)
		nodes := f.Core().V1().Nodes().Informer()
		synctest.Wait()
		require.False(t, nodes.HasSynced(), "Start was before")
		require.Equal(t, map[reflect.Type]bool{podType: true}, f.WaitForCacheSync(ctx.Done()), "which was not asked to run")
		begin(t, run, f)
		require.True(t, nodes.HasSynced())
		require.Equal(t, map[reflect.Type]bool{podType: true, nodeType: true}, f.WaitForCacheSync(ctx.Done()))

		end()
		synctest.Wait()
		begin(t, ctx, f)
		require.True(t, nodes.IsStopped(), "what has ended is not started again")
		lists := 0
		for _, a := range client.Actions() {
			if a.GetVerb() == "list" {
				lists++
			}
		}
		require.Equal(t, 2, lists)
	})
}

func TestContract_B105_StartAfterShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactory(fake.NewClientset(), 0)
		f.Shutdown() // nothing runs, so it returns at once
		pods := f.Core().V1().Pods().Informer()
		begin(t, ctx, f)
		require.False(t, pods.HasSynced())
		require.Empty(t, f.WaitForCacheSync(ctx.Done()))
		_, err := Acquire[*corev1.Pod](f, Scope{})
		require.ErrorIs(t, err, ErrShutdown)
		_, err = For[*corev1.Node](f)
		require.ErrorIs(t, err, ErrShutdown)
	})
}

// Shutdown ends no run, and returns when handlers have ended, too.
func TestContract_B106_ShutdownWaits(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		name, err := cache.NewInformerName("TestContract_B106")
		require.NoError(t, err)
		f := NewSharedInformerFactoryWithOptions(fake.NewClientset(newPod("prod", "web")), 0, WithInformerName(name))
		require.Same(t, name, f.InformerName())
		busy := make(chan struct{})
		_, err = f.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }})
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)

		var waiting sync.WaitGroup
		waited := false
		waiting.Go(func() { f.Shutdown(); waited = true })
		time.Sleep(time.Hour)
		require.False(t, waited, "nothing has ended")
		_, err = cache.NewInformerName("TestContract_B106")
		require.Error(t, err, "the name is taken")
		end()
		time.Sleep(time.Hour)
		require.False(t, waited, "the handler is busy")
		close(busy)
		waiting.Wait()
		again, err := cache.NewInformerName("TestContract_B106")
		require.NoError(t, err, "the name is free")
		again.Release()
	})
}

func TestContract_B107_T14_WaitForCacheSync(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewClientset()
		client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(corev1.Resource("nodes"), "", errors.New("you may not"))
		})
		f := NewSharedInformerFactory(client, 0)
		require.Empty(t, f.WaitForCacheSync(nil), "nothing was started, and stop is never closed")
		f.Core().V1().Pods().Informer()
		f.Core().V1().Nodes().Informer()
		require.Empty(t, f.WaitForCacheSync(nil))
		f.Start(ctx.Done())

		short, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("a minute is enough"))
		defer cancel()
		result := f.WaitForCacheSyncWithContext(short)
		require.EqualError(t, result.Err, "a minute is enough")
		require.Equal(t, map[reflect.Type]bool{podType: true, nodeType: false}, result.Synced)
		result = f.WaitForCacheSyncWithContext(short)
		require.True(t, result.Synced[podType], "it is synced, even if the wait has ended")
		nodes, err := For[*corev1.Node](f)
		require.NoError(t, err)
		require.ErrorContains(t, nodes.WaitSynced(short), "you may not")
	})
}

func TestContract_B108_ResyncByType(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactoryWithOptions(fake.NewClientset(newPod("prod", "web"), newNode("n1")), time.Hour,
			WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute, &appsv1.Deployment{}: 0}))
		var pods, nodes int
		_, err := f.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { pods++ }})
		require.NoError(t, err)
		_, err = f.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { nodes++ }})
		require.NoError(t, err)
		begin(t, ctx, f)
		time.Sleep(time.Hour + 30*time.Second)
		synctest.Wait()
		require.Equal(t, 60, pods)
		require.Equal(t, 1, nodes)

		var handed []time.Duration
		constructor := func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			handed = append(handed, resync)
			return tidecache.NewSharedIndexInformer(&cache.ListWatch{}, nil, resync, nil)
		}
		f.InformerFor(&appsv1.Deployment{}, constructor)
		f.InformerFor(&appsv1.DaemonSet{}, constructor)
		require.Equal(t, []time.Duration{0, time.Hour}, handed)
	})
}

// The namespace and the last tweak apply to all requests of all kinds; kinds without namespaces
// ignore the namespace.
func TestContract_B108_NamespaceAndTweak(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewClientset(newPod("prod", "web"), newPod("test", "web"), newNode("n1"))
		f := NewSharedInformerFactoryWithOptions(client, 0, WithNamespace("prod"),
			WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "spec.x=1" }),
			WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "!hidden" }))
		f.Core().V1().Pods().Informer()
		f.Core().V1().Nodes().Informer()
		begin(t, ctx, f)
		found, err := f.Core().V1().Pods().Lister().List(labels.Everything())
		require.NoError(t, err)
		require.Len(t, found, 1)
		nodes, err := f.Core().V1().Nodes().Lister().List(labels.Everything())
		require.NoError(t, err)
		require.Len(t, nodes, 1)

		require.Len(t, client.Actions(), 4)
		for _, a := range client.Actions() {
			switch a := a.(type) {
			case clienttesting.ListAction:
				require.Equal(t, "!hidden", a.GetListRestrictions().Labels.String())
				require.Empty(t, a.GetListRestrictions().Fields.String())
			case clienttesting.WatchAction:
				require.Equal(t, "!hidden", a.GetWatchRestrictions().Labels.String())
			}
			if a.GetResource().Resource == "pods" {
				require.Equal(t, "prod", a.GetNamespace())
			} else {
				require.Empty(t, a.GetNamespace())
			}
		}

		filtered := NewFilteredSharedInformerFactory(client, 0, "test", nil)
		filtered.Core().V1().Pods().Informer()
		begin(t, ctx, filtered)
		found, err = filtered.Core().V1().Pods().Lister().List(labels.Everything())
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "test", found[0].Namespace)
	})
}

func TestContract_B109_Registering(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	pods := f.Core().V1().Pods()
	require.Empty(t, f.entries)
	pods.Lister()
	require.Len(t, f.entries, 1)
	_, err := f.ForResource(corev1.SchemeGroupVersion.WithResource("nodes"))
	require.NoError(t, err)
	require.Len(t, f.entries, 2)
	_, err = f.ForResource(widgetResource)
	require.ErrorIs(t, err, ErrUnknownKind)
	require.ErrorContains(t, err, "widgets")
	require.Len(t, f.entries, 2)
}

func TestContract_B110_OneIndex(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	for _, a := range accessorsOf(f) {
		ix := a.informer.GetIndexer().GetIndexers()
		require.Len(t, ix, 1, a.name)
		require.Contains(t, ix, cache.NamespaceIndex, a.name)
	}
}

// The factory's transform applies to every informer, and its result must have the informer's
// type.
func TestContract_D25_Transform(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewClientset(newPod("prod", "web"), newNode("n1"))
		f := NewSharedInformerFactoryWithOptions(client, 0, WithTransform(func(obj any) (any, error) {
			if _, ok := obj.(*corev1.Node); ok {
				return "a node", nil
			}
			obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
			return obj, nil
		}))
		nodes, err := For[*corev1.Node](f)
		require.NoError(t, err)
		var recorded []error
		require.NoError(t, nodes.Shared().SetWatchErrorHandler(func(_ *cache.Reflector, err error) { recorded = append(recorded, err) }))
		f.Core().V1().Pods().Informer()
		external := f.InformerFor(&corev1.Service{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return NewFilteredInformer[*corev1.Service](c, "", resync, nil, nil)
		})
		begin(t, ctx, f)

		web, err := f.Core().V1().Pods().Lister().Pods("prod").Get("web")
		require.NoError(t, err)
		require.Equal(t, "yes", web.Annotations["seen"])
		require.True(t, nodes.Shared().HasSynced())
		require.Zero(t, nodes.Indexer().Len())
		require.Equal(t, 1, nodes.Status().Quarantined)
		require.Len(t, recorded, 1)
		require.ErrorIs(t, recorded[0], informer.ErrType)
		require.ErrorContains(t, recorded[0], "*v1.Node")
		require.ErrorContains(t, recorded[0], "string")

		_, err = client.CoreV1().Services("prod").Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, "yes", external.GetStore().List()[0].(*corev1.Service).Annotations["seen"])
	})
}

// A fake clientset cannot stream its state, so the informer does not ask it to.
func TestContract_T16_FakeClientset(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewClientset(newPod("prod", "web"))
		f := NewSharedInformerFactoryWithOptions(client, 0, WithTweakListOptions(func(*metav1.ListOptions) {}))
		f.Core().V1().Pods().Informer()
		began := time.Now()
		begin(t, ctx, f)
		require.True(t, f.WaitForCacheSync(ctx.Done())[podType])
		require.Zero(t, time.Since(began))
		require.Equal(t, "list", client.Actions()[0].GetVerb())
	})
}

// A caller's constructor runs once, and its informer is the informer of the type from then on.
func TestContract_T20_InformerFor(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewClientset(newPod("prod", "web"))
		f := NewSharedInformerFactory(client, 0)
		var made []cache.SharedIndexInformer
		var constructor internalinterfaces.NewInformerFunc = func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			require.Same(t, client, c)
			made = append(made, coreinformers.NewFilteredPodInformer(c, "prod", resync, cache.Indexers{
				cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
				"name":               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil },
			}, nil))
			return made[len(made)-1]
		}
		first := f.InformerFor(&corev1.Pod{}, constructor)
		require.Same(t, first, f.InformerFor(&corev1.Pod{}, constructor))
		require.Len(t, made, 1)
		require.Same(t, made[0], first)

		_, err := For[*corev1.Pod](f)
		require.ErrorIs(t, err, ErrForeign)
		_, err = Acquire[*corev1.Pod](f, Scope{})
		require.ErrorIs(t, err, ErrForeign)
		require.ErrorIs(t, Configure(f, informer.Options[*corev1.Pod]{}), informer.ErrRunning)

		begin(t, ctx, f)
		require.True(t, f.WaitForCacheSync(ctx.Done())[podType])
		web, err := f.Core().V1().Pods().Lister().Pods("prod").Get("web")
		require.NoError(t, err)
		byName, err := f.Core().V1().Pods().Informer().GetIndexer().ByIndex("name", "web")
		require.NoError(t, err)
		require.Equal(t, []any{web}, byName)

		apart, err := Acquire[*corev1.Pod](f, Scope{Namespaces: []string{"prod"}})
		require.NoError(t, err, "a scope of its own is an informer of its own")
		apart.Release()
	})
}

// A constructor may return an informer of this module.
func TestContract_T20_ConstructorOfOurs(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	mine := f.InformerFor(&corev1.Pod{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return NewFilteredInformer[*corev1.Pod](c, "prod", resync, nil, nil)
	})
	pods, err := For[*corev1.Pod](f)
	require.NoError(t, err)
	require.NoError(t, mine.GetStore().Add(newPod("prod", "web")))
	require.Equal(t, 1, pods.Indexer().Len())
	again, err := Acquire[*corev1.Pod](f, Scope{})
	require.NoError(t, err)
	require.Same(t, pods.Indexer(), again.Informer().Indexer())
	again.Release()
}

// The accessors do not run the generated constructors, which use client-go's engine.
func TestContract_T20_AccessorsAreOurs(t *testing.T) {
	f := NewSharedInformerFactory(nil, 0)
	for _, a := range accessorsOf(f) {
		require.NotNil(t, a.informer, a.name)
	}
	for at, e := range f.entries {
		require.Implements(t, (*informer.Shared)(nil), e.shared, at.kind)
	}
}

// The factory does not touch an informer that the user runs.
func TestRunByHand(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactory(fake.NewClientset(newPod("prod", "web")), 0)
		pods := f.Core().V1().Pods().Informer()
		byHand, end := context.WithCancel(ctx)
		go pods.Run(byHand.Done())
		synctest.Wait()
		require.True(t, pods.HasSynced())
		begin(t, ctx, f)
		require.True(t, f.WaitForCacheSync(ctx.Done())[podType])
		f.Shutdown() // nothing to wait for
		end()
		synctest.Wait()
		require.True(t, pods.IsStopped())
	})
}
