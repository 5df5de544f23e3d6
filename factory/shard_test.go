package factory_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// nth returns a share of a number of replicas.
func nth(t *testing.T, by shard.Field, index, total int) shard.Set {
	t.Helper()
	share, err := shard.Nth(by, index, total)
	require.NoError(t, err)
	return share
}

// The informers of all factories read a share that Configure gives them, in protobuf and in JSON, and with a client
// that decodes. Those of all replicas together have what the server has, and none has what another one has.
func TestContract_D42_SharesOfAllFactories(t *testing.T) {
	for _, content := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for _, wire := range []bool{false, true} {
			serves := func(t *testing.T) (*informertest.Server, *rest.Config) {
				var names []string
				for n := range 30 {
					names = append(names, fmt.Sprint("web-", n))
				}
				server, config := serves(t, names...)
				config.ContentType = content
				if wire {
					config.Wrap(reflector.Wire)
				}
				return server, config
			}
			t.Run(fmt.Sprintf("%s, wire %v", content, wire), func(t *testing.T) {
				t.Run("typed", func(t *testing.T) {
					server, config := serves(t)
					divides(t, server, config, typedPods)
				})
				t.Run("dynamic", func(t *testing.T) {
					server, config := serves(t)
					divides(t, server, config, dynamicPods)
				})
				t.Run("metadata", func(t *testing.T) {
					server, config := serves(t)
					divides(t, server, config, metadataOfPods)
				})
			})
		}
	}
}

func divides[T informer.Object](t *testing.T, server *informertest.Server, config *rest.Config, with func(*testing.T, *rest.Config, set) kindOfFactory[T]) {
	const replicas = 3
	var all []*informer.Informer[T]
	var shares []shard.Set
	var list func(context.Context) ([]T, error)
	for i := range replicas {
		share := nth(t, shard.ByUID, i, replicas)
		f := with(t, config, set{})
		require.NoError(t, f.configure(informer.Options[T]{Shard: shard.Static(share)}))
		all, shares, list = append(all, synced(t, f)), append(shares, share), f.list
	}
	require.NoError(t, server.Create(t.Context(), limited("late", "100m")))
	require.NoError(t, server.Update(t.Context(), limited("web-3", "200m")))
	require.NoError(t, server.Delete(t.Context(), limited("web-4", "100m")))
	live, err := list(t.Context())
	require.NoError(t, err)
	for i, one := range all {
		require.NoError(t, one.WaitFresh(t.Context()))
		own := 0
		for _, want := range live {
			got, ok := one.Indexer().Get(indexer.Key{Namespace: want.GetNamespace(), Name: want.GetName()})
			require.Equal(t, shares[i].Has(want.GetNamespace(), want.GetUID()), ok, want.GetName())
			if ok {
				own++
				require.Equal(t, want, got)
			}
		}
		require.Len(t, live, own+len(live)-one.Indexer().Len(), "it holds nothing else")
		s := one.Status().Shard
		require.True(t, s.Share.Equal(shares[i]))
		require.NotZero(t, s.Foreign, "the server does not filter")
	}
}

// someObjects returns pods and other objects, whose UIDs the tests know.
func someObjects() (objects []runtime.Object) {
	for n := range 40 {
		name := fmt.Sprint("object-", n)
		meta := metav1.ObjectMeta{Namespace: "prod", Name: name, UID: types.UID(name), ResourceVersion: "1"}
		objects = append(objects, &corev1.Pod{ObjectMeta: meta}, &corev1.Secret{ObjectMeta: meta}, &corev1.ConfigMap{ObjectMeta: meta})
	}
	return objects
}

// held returns how many objects of a type the factory's informer has.
func held[T informer.Object](t *testing.T, f *factory.Factory) int {
	t.Helper()
	i, err := factory.For[T](f)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer f.Shutdown()
	defer cancel()
	f.StartWithContext(ctx)
	require.NoError(t, i.WaitSynced(ctx))
	return i.Indexer().Len()
}

// count returns how many of the objects of a kind are in a share.
func count(share shard.Set) (n int) {
	for i := range 40 {
		if share.Has("prod", types.UID(fmt.Sprint("object-", i))) {
			n++
		}
	}
	return n
}

// Kinds that are named are shared, and all others are read whole. A Shard of Configure goes before the factory's, and a
// zero one means the factory's, whatever else Configure sets. Named again, kinds are added.
func TestContract_D49_KindsAreNamed(t *testing.T) {
	third, half := nth(t, shard.ByUID, 1, 3), nth(t, shard.ByUID, 0, 2)
	require.NotEqual(t, count(third), count(half))
	made := func() *factory.Factory {
		f := factory.NewSharedInformerFactoryWithOptions(fake.NewClientset(someObjects()...), 0,
			factory.WithShard(shard.Static(third), &corev1.Pod{}), factory.WithShard(shard.Static(half), &corev1.ConfigMap{}))
		require.NoError(t, factory.Configure(f, informer.Options[*corev1.ConfigMap]{Name: "configured"}))
		return f
	}
	require.Equal(t, count(third), held[*corev1.Pod](t, made()))
	require.Equal(t, count(half), held[*corev1.ConfigMap](t, made()), "the factory's")
	require.Equal(t, 40, held[*corev1.Secret](t, made()), "not named")

	f := made()
	require.NoError(t, factory.Configure(f, informer.Options[*corev1.Pod]{Shard: shard.Static(half)}))
	require.Equal(t, count(half), held[*corev1.Pod](t, f), "its own")
	f = made()
	require.NoError(t, factory.Configure(f, informer.Options[*corev1.Secret]{Shard: shard.Static(third)}))
	require.Equal(t, count(third), held[*corev1.Secret](t, f), "its own, though it is not named")

	f = factory.NewSharedInformerFactoryWithOptions(fake.NewClientset(someObjects()...), 0, factory.WithShard(nil, &corev1.Pod{}))
	require.Equal(t, 40, held[*corev1.Pod](t, f), "no Assignment")
}

// A share of namespaces of a cluster-scoped kind holds all its objects or none.
func TestContract_D45_AClusterScopedKindByNamespace(t *testing.T) {
	nodes := []runtime.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	typed, dynamic := 0, 0
	for half := range 2 {
		share := shard.Static(nth(t, shard.ByNamespace, half, 2))
		f := factory.NewSharedInformerFactoryWithOptions(fake.NewClientset(nodes...), 0, factory.WithShard(share, &corev1.Node{}))
		n := held[*corev1.Node](t, f)
		require.Contains(t, []int{0, 2}, n)
		typed += n

		resource := corev1.SchemeGroupVersion.WithResource("nodes")
		d := factory.NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme, nodes...), 0)
		require.NoError(t, d.Configure(resource, informer.Options[*unstructured.Unstructured]{Shard: share}))
		i, err := d.For(resource)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		d.StartWithContext(ctx)
		require.NoError(t, i.WaitSynced(ctx))
		require.Contains(t, []int{0, 2}, i.Indexer().Len())
		dynamic += i.Indexer().Len()
		cancel()
		d.Shutdown()
	}
	require.Equal(t, []int{2, 2}, []int{typed, dynamic})
}

// No wait blocks on an informer whose share cannot be used. All waits return the reason, however the run has begun.
func TestContract_D45_AnUnusableShareBlocksNothing(t *testing.T) {
	byNamespace := shard.Static(shard.Whole(shard.ByNamespace))
	for name, row := range map[string]struct {
		options []factory.Option
		want    error
	}{
		"no field":      {[]factory.Option{factory.WithShard(shard.Static(shard.Set{}), &corev1.Node{})}, shard.ErrField},
		"one namespace": {[]factory.Option{factory.WithNamespace("prod"), factory.WithShard(byNamespace, &corev1.Pod{})}, informer.ErrSharded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a wait that does not end is a deadlock
				f := factory.NewSharedInformerFactoryWithOptions(fake.NewClientset(), 0, row.options...)
				defer f.Shutdown()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var i interface {
					WaitSynced(context.Context) error
					WaitFresh(context.Context) error
				}
				if name == "one namespace" {
					i, _ = informer.As[*corev1.Pod](f.Core().V1().Pods().Informer())
				} else {
					i, _ = informer.As[*corev1.Node](f.Core().V1().Nodes().Informer())
				}
				early := make(chan error, 1)
				go func() { early <- i.WaitSynced(ctx) }()
				f.StartWithContext(ctx)
				require.ErrorIs(t, <-early, row.want)
				require.ErrorIs(t, i.WaitSynced(ctx), row.want)
				require.ErrorIs(t, i.WaitFresh(ctx), row.want)
				for range 2 {
					result := f.WaitForCacheSyncWithContext(ctx)
					require.ErrorIs(t, result.Err, row.want)
					require.Len(t, result.Synced, 1)
					for _, synced := range f.WaitForCacheSync(ctx.Done()) {
						require.False(t, synced)
					}
					f.StartWithContext(ctx) // again
				}
			})
		})
	}
}

// An Assignment that becomes usable later serves the next informer.
func TestAShareThatIsUsableLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &moved{}
		f := factory.NewSharedInformerFactoryWithOptions(fake.NewClientset(someObjects()...), 0, factory.WithShard(a, &corev1.Pod{}))
		defer f.Shutdown()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := factory.For[*corev1.Pod](f)
		require.NoError(t, err)
		f.StartWithContext(ctx)
		require.ErrorIs(t, f.WaitForCacheSyncWithContext(ctx).Err, shard.ErrField)
		a.Set = nth(t, shard.ByUID, 1, 3)
		f.StartWithContext(ctx)
		pods, err := factory.For[*corev1.Pod](f)
		require.NoError(t, err)
		f.StartWithContext(ctx)
		require.NoError(t, f.WaitForCacheSyncWithContext(ctx).Err)
		require.NoError(t, pods.WaitFresh(ctx))
		require.Equal(t, count(a.Set), pods.Indexer().Len())
	})
}

// moved is an Assignment that a test changes between two informers.
type moved struct{ shard.Set }

func (m *moved) Share() shard.Set { return m.Set }

// A lease of a kind that is shared has a share of its scope; of several namespaces it has several sources, and cannot.
func TestSharesOfLeases(t *testing.T) {
	_, config := serves(t, "a", "b", "c", "d", "e", "f", "g", "h")
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	share := nth(t, shard.ByUID, 0, 2)
	f := factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithShard(shard.Static(share), &corev1.Pod{}))
	ctx, cancel := context.WithCancel(t.Context())
	defer f.Shutdown()
	defer cancel()
	f.StartWithContext(ctx)
	one, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Namespaces: []string{"default"}})
	require.NoError(t, err)
	require.NoError(t, one.Informer().WaitSynced(ctx))
	for pod := range one.Informer().Indexer().All() {
		require.True(t, share.Has(pod.Namespace, pod.UID))
	}
	require.NotZero(t, one.Informer().Status().Shard.Foreign)
	several, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Namespaces: []string{"default", "prod"}})
	require.NoError(t, err)
	require.ErrorIs(t, several.Informer().WaitSynced(ctx), informer.ErrSharded)
}

// asking is an Assignment of a program's.
type asking func() shard.Set

func (f asking) Share() shard.Set { return f() }

// An Assignment may call the factory. If it panics, the run ends, and Shutdown returns.
func TestAnAssignmentIsCalledWithoutALock(t *testing.T) {
	for name, panics := range map[string]bool{"it looks": false, "it panics": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f *factory.Factory
				f = factory.NewSharedInformerFactoryWithOptions(fake.NewClientset(someObjects()...), 0, factory.WithShard(asking(func() shard.Set {
					for range f.Informers() {
						if panics {
							panic("no share")
						}
					}
					return shard.Whole(shard.ByUID)
				}), &corev1.Pod{}))
				f.Core().V1().Pods().Informer()
				ctx, cancel := context.WithCancel(t.Context())
				f.StartWithContext(ctx)
				if err := f.WaitForCacheSyncWithContext(ctx).Err; panics {
					require.ErrorIs(t, err, reflector.ErrPanic)
				} else {
					require.NoError(t, err)
				}
				cancel()
				f.Shutdown()
			})
		})
	}
}
