package factory

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Informers describes the factory's informers: their users and their status.
func TestInformers(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := NewSharedInformerFactory(fake.NewClientset(newPod("a", "p"), newPod("a", "q")), 0)
		require.NoError(t, Register[*widget](f, widgetsOf(server)))
		for range f.Informers() {
			require.Fail(t, "there are none")
		}
		pods, err := For[*corev1.Pod](f)
		require.NoError(t, err)
		_, err = pods.Handle(&recorder[*corev1.Pod]{}, informer.HandlerOptions{Name: "reader"})
		require.NoError(t, err)
		namespaces := []string{"b", "a"}
		l := acquire(t, f, Scope{Namespaces: namespaces, Labels: "color=red"})
		again := acquire(t, f, Scope{Namespaces: namespaces, Labels: "color=red"})
		begin(t, ctx, f)
		var recorded []string
		for h := range f.Informers() {
			_, err := For[*corev1.Pod](f) // the factory is not locked
			require.NoError(t, err)
			recorded = append(recorded, fmt.Sprintf("%v %s %q pinned %v users %d objects %d synced %v handlers %d",
				h.Type, h.Resource.Resource, h.Scope, h.Pinned, h.Users, h.Status.Objects, h.Status.Synced, len(h.Status.Handlers)))
			clear(h.Scope.Namespaces)
			require.True(t, h.Informer.HasSynced())
		}
		require.Equal(t, []string{
			`*v1.Pod pods "" pinned true users 0 objects 2 synced true handlers 1`,
			`*factory.widget widgets "in a,b with color=red" pinned false users 2 objects 1 synced true handlers 0`,
		}, recorded)
		again.Release()
		for h := range f.Informers() {
			require.Equal(t, h.Users == 0, h.Pinned)
			if !h.Pinned {
				require.Equal(t, []string{"a", "b"}, h.Scope.Namespaces, "a caller owns its result")
			}
		}
		for range f.Informers() {
			break
		}
		l.Release()
	})
}

func TestInformersOfAnotherModule(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		constructed := 0
		f := NewSharedInformerFactory(nil, 0)
		widgets{Generated[*widgetClient, newWidgetInformerFunc](f, &widgetClient{server}), &constructed}.Informer()
		begin(t, ctx, f)
		for h := range f.Informers() {
			require.Equal(t, widgetType, h.Type)
			require.True(t, h.Resource.Empty())
			require.True(t, h.Status.Synced)
		}
	})
}

// One factory by resource can hold informers of several selectors and namespaces of a resource,
// with options.
func TestContract_D20_ByResource(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, newPod("a", "one"), newPod("b", "two"), newNode("n"))
		f := NewDynamicSharedInformerFactory(client, 0)
		transformed := 0
		require.NoError(t, f.Configure(podResource, informer.Options[*unstructured.Unstructured]{
			Name: "the pods",
			Transform: func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				transformed++
				return u, nil
			},
		}))
		pods, err := f.For(podResource)
		require.NoError(t, err)
		again, err := f.For(podResource)
		require.NoError(t, err)
		require.Same(t, pods, again)
		require.Same(t, f.ForResource(podResource).Informer(), pods.Shared())
		require.ErrorIs(t, f.Configure(podResource, informer.Options[*unstructured.Unstructured]{}), informer.ErrRunning)
		require.NoError(t, f.Configure(nodeResource, informer.Options[*unstructured.Unstructured]{Name: "the nodes"}))
		begin(t, ctx, f)
		require.Equal(t, "the pods", pods.Status().Name)
		require.Equal(t, 2, pods.Indexer().Len())
		require.Equal(t, 2, transformed)

		l, err := f.Acquire(podResource, Scope{Namespaces: []string{"a"}})
		require.NoError(t, err)
		nodes, err := f.Acquire(nodeResource, Scope{Labels: "none=such"})
		require.NoError(t, err)
		require.NoError(t, l.Informer().WaitFresh(ctx))
		require.NoError(t, nodes.Informer().WaitFresh(ctx))
		require.Equal(t, 1, l.Informer().Indexer().Len())
		require.Zero(t, nodes.Informer().Indexer().Len())
		require.Equal(t, "the nodes", nodes.Informer().Status().Name)
		_, err = f.Acquire(podResource, Scope{Labels: "color in"})
		require.ErrorIs(t, err, ErrScope)

		var all []string
		for h := range f.Informers() {
			all = append(all, fmt.Sprint(h.Resource.Resource, h.Scope.Namespaces, h.Scope.Labels, h.Users, h.Pinned))
		}
		require.Equal(t, []string{"nodes[]none=such1 false", "pods[]0 true", "pods[a]1 false"}, all)
		l.Release()
		nodes.Release()
		f.mu.Lock()
		require.Len(t, f.entries, 1)
		f.mu.Unlock()
	})
}

// The metadata factory behaves the same.
func TestContract_D20_ByResourceOfMetadata(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewMetadataSharedInformerFactory(metadatafake.NewSimpleMetadataClient(withMeta(t), partial("a", "one"), partial("b", "two")), 0)
		begin(t, ctx, f)
		l, err := f.Acquire(podResource, Scope{Namespaces: []string{"b"}})
		require.NoError(t, err)
		require.NoError(t, l.Informer().WaitFresh(ctx))
		for m := range l.Informer().Indexer().All() {
			require.IsType(t, &metav1.PartialObjectMetadata{}, m)
			require.Equal(t, "two", m.Name)
		}
		require.Equal(t, 1, l.Informer().Indexer().Len())
		l.Release()
	})
}

// An informer that a user has asked for by nil has no type, and is one among others.
func TestAnInformerWithoutAType(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	f.InformerFor(nil, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, nil, 0, nil)
	})
	f.InformerFor(&widget{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &widget{}, 0, nil)
	})
	all := 0
	for range f.Informers() {
		all++
	}
	require.Equal(t, 2, all)
}
