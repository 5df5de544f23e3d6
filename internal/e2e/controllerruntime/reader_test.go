package controllerruntime

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

func TestReadsStartTheInformerTheyNeed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"), pod("a", "two", "db"), pod("b", "one", "web"))
		c := r.started(t, cache.Options{})
		assert.Zero(t, r.server.Watches())

		got := f.get(t, c, "a", "one")
		assert.Equal(t, "web", got.GetLabels()["app"])
		assert.NotEmpty(t, got.GetUID())
		assert.Equal(t, podKind, got.GetObjectKind().GroupVersionKind())
		assert.Equal(t, []string{"a/one", "a/two", "b/one"}, f.pods(t, c))
		r.watches(t, 1)
	})
}

func TestListsAreNarrowedDown(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"), pod("a", "two", "db"), pod("b", "one", "web"))
		c := r.started(t, cache.Options{})
		web := client.MatchingLabels{"app": "web"}

		assert.Equal(t, []string{"a/one", "a/two"}, f.pods(t, c, client.InNamespace("a")))
		assert.Equal(t, []string{"a/one", "b/one"}, f.pods(t, c, web))
		assert.Equal(t, []string{"a/one"}, f.pods(t, c, web, client.InNamespace("a")))
		assert.Len(t, f.pods(t, c, client.Limit(2)), 2)
		assert.Len(t, f.pods(t, c, client.Limit(1), web), 1)
		assert.Empty(t, f.pods(t, c, client.InNamespace("nowhere")))
		for _, o := range f.items(t, c) {
			assert.Equal(t, podKind, o.GetObjectKind().GroupVersionKind())
		}
		assert.ErrorContains(t, c.List(t.Context(), f.list(podKind), client.Continue("more")), "not supported")
		assert.ErrorContains(t, c.List(t.Context(), f.list(podKind), client.MatchingFields{"spec.nodeName": "n"}), "does not exist")
	})
}

func TestChangesReachTheCache(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		c := r.started(t, cache.Options{})
		f.has(t, c, []string{})
		one, two := pod("a", "one", "web"), pod("a", "two", "web")
		r.create(t, one, two)
		f.has(t, c, []string{"a/one", "a/two"})
		one.Labels["app"] = "db"
		r.update(t, one)
		f.has(t, c, []string{"a/one"}, client.MatchingLabels{"app": "db"})
		assert.Equal(t, one.ResourceVersion, f.get(t, c, "a", "one").GetResourceVersion())
		r.remove(t, two)
		f.has(t, c, []string{"a/one"})
	})
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		c := r.started(t, cache.Options{})
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, f.pod())
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

func TestClusterScopedObjectsHaveNoNamespace(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.create(t, node("n1"), node("n2"))
		c := r.started(t, cache.Options{})
		var got corev1.Node
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "ignored", Name: "n1"}, &got))
		assert.Equal(t, "n1", got.Name)
		var list corev1.NodeList
		require.NoError(t, c.List(t.Context(), &list, client.MatchingLabels{"name": "n2"}))
		require.Len(t, list.Items, 1)
	})
}

// A cache returns copies of objects, unless copying is disabled for a call, a kind or the cache. Then
// two reads share the object's maps and slices.
func TestReadsCopy(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		options cache.Options
		get     []client.GetOption
		list    []client.ListOption
		shared  bool
	}{
		"copied":          {},
		"shared by call":  {get: []client.GetOption{client.UnsafeDisableDeepCopy}, list: []client.ListOption{client.UnsafeDisableDeepCopy}, shared: true},
		"shared by kind":  {options: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {UnsafeDisableDeepCopy: &yes}}}, shared: true},
		"shared by cache": {options: cache.Options{DefaultUnsafeDisableDeepCopy: &yes}, shared: true},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				r.create(t, pod("a", "one", "web"))
				cached := r.started(t, c.options)
				read := func() *corev1.Container {
					return &typed.get(t, cached, "a", "one", c.get...).(*corev1.Pod).Spec.Containers[0]
				}
				list := func() *corev1.Container {
					return &typed.items(t, cached, c.list...)[0].(*corev1.Pod).Spec.Containers[0]
				}
				one, another, listed := read(), read(), list()
				shared := c.shared && !r.anew
				assert.Equal(t, shared, one == another)
				assert.Equal(t, shared, one == listed)
				assert.Equal(t, shared, listed == list())
			})
		})
	}
}

func TestReaderFailsOnMissingInformer(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"))
		c := r.started(t, cache.Options{ReaderFailOnMissingInformer: true})
		var missing *cache.ErrResourceNotCached
		require.ErrorAs(t, c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, f.pod()), &missing)
		require.ErrorAs(t, c.List(t.Context(), f.list(podKind)), &missing)
		assert.Zero(t, r.server.Watches())

		_, err := c.GetInformer(t.Context(), f.pod())
		require.NoError(t, err)
		assert.Equal(t, []string{"a/one"}, f.pods(t, c))
	})
}

func TestReadsBeforeTheStartFail(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		c := r.cache(t, cache.Options{})
		var early *cache.ErrCacheNotStarted
		require.ErrorAs(t, c.List(t.Context(), &corev1.PodList{}), &early)
		require.ErrorAs(t, c.Get(t.Context(), client.ObjectKey{Name: "n"}, &corev1.Node{}), &early)
	})
}

// A read waits until its informer has synced, but no longer than its context allows.
func TestReadsWaitForTheSync(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		c := r.started(t, cache.Options{})
		r.gate.shut()
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- c.List(ctx, f.list(podKind)) }()
		await(t, "a request", func() bool { return len(r.gate.requests()) > 0 })
		cancel()
		assert.True(t, apierrors.IsTimeout(receive(t, failed)))
		assert.True(t, apierrors.IsTimeout(c.Get(ctx, client.ObjectKey{Namespace: "a", Name: "one"}, f.pod())))
	})
}

// Objects of a CRD without a Go type are read as unstructured objects or as metadata.
func TestKindsWithoutGoType(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "toys.example", Version: "v1", Kind: "Spinner"}
	for _, f := range []flavour{generic, metadataOnly} {
		t.Run(f.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				require.NoError(t, r.server.Register(informertest.Kind{GVK: gvk, GVR: gvk.GroupVersion().WithResource("spinners"), Namespaced: true}))
				spinner := generic.object(gvk)
				spinner.SetNamespace("a")
				spinner.SetName("one")
				spinner.SetUID(types.UID("given"))
				r.create(t, spinner)
				c := r.started(t, cache.Options{})

				got := f.object(gvk)
				require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, got))
				assert.Equal(t, spinner.GetUID(), got.GetUID())
				assert.Equal(t, gvk, got.GetObjectKind().GroupVersionKind())
				list := f.list(gvk)
				require.NoError(t, c.List(t.Context(), list, client.InNamespace("a")))
			})
		})
	}
}
