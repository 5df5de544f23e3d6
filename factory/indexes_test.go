package factory

import (
	"context"
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

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
)

var owner = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "1"}}

func ownedPod() *corev1.Pod {
	pod := newPod("prod", "web")
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: owner.UID}}
	return pod
}

// WithIndexes adds indexes to all informers that the factory makes, for any request and at any time. An index of
// Configure takes precedence over an index of the factory with the same name.
func TestContract_D39_IndexesOfAFactory(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		node := newNode("n1")
		node.OwnerReferences = ownedPod().OwnerReferences
		f := NewSharedInformerFactoryWithOptions(fake.NewClientset(ownedPod(), node), 0, WithIndexes(refs.ByOwner[any]()), WithIndexes(refs.ByReference[any]()))
		require.NoError(t, Configure(f, informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{
			{Name: refs.OwnerIndex, Append: func(values []string, p *corev1.Pod) []string { return append(values, "own") }},
			{Name: "name", Append: func(values []string, p *corev1.Pod) []string { return append(values, p.Name) }},
		}}))
		pods, err := For[*corev1.Pod](f)
		require.NoError(t, err)
		nodes := f.Core().V1().Nodes().Informer()
		begin(t, ctx, f)
		require.Equal(t, []string{indexer.NamespaceIndex, refs.OwnerIndex, "name", refs.ReferenceIndex}, pods.Indexer().Indexes())
		for value, want := range map[string]int{"own": 1, "1": 0} {
			s, err := pods.Indexer().Find(indexer.Query{Fields: map[string]string{refs.OwnerIndex: value}})
			require.NoError(t, err)
			require.Equal(t, want, s.Len(), value)
		}
		owned, err := nodes.GetIndexer().ByIndex(refs.OwnerIndex, string(owner.UID))
		require.NoError(t, err)
		require.Len(t, owned, 1)

		late, err := For[*corev1.ConfigMap](f)
		require.NoError(t, err)
		require.Equal(t, []string{indexer.NamespaceIndex, refs.OwnerIndex, refs.ReferenceIndex}, late.Indexer().Indexes())
		leased, err := Acquire[*corev1.Pod](f, Scope{Namespaces: []string{"prod"}})
		require.NoError(t, err)
		defer leased.Release()
		require.Equal(t, pods.Indexer().Indexes(), leased.Informer().Indexer().Indexes())
		made := f.InformerFor(&corev1.Secret{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return NewInformer[*corev1.Secret](c, "", resync, nil)
		})
		require.Len(t, made.GetIndexer().GetIndexers(), 1, "that of the caller's constructor")
	})
}

// An invalid index is an error of For, and of each informer.
func TestInvalidIndexesOfAFactory(t *testing.T) {
	for want, indexes := range map[error][]indexer.Index[any]{
		indexer.ErrIndexInvalid: {{Name: "empty"}},
		indexer.ErrIndexExists:  {refs.ByOwner[any](), refs.ByOwner[any]()},
	} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			f := NewSharedInformerFactoryWithOptions(fake.NewClientset(), 0, WithIndexes(indexes...))
			_, err := For[*corev1.Pod](f)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "Pod")
			pods, ok := informer.As[*corev1.Pod](f.Core().V1().Pods().Informer())
			require.True(t, ok)
			require.ErrorIs(t, pods.WaitSynced(ctx), want)
			require.ErrorIs(t, pods.Run(ctx), want)

			begin(t, ctx, f)
			require.ErrorIs(t, f.WaitForCacheSyncWithContext(ctx).Err, want, "an informer that does not run is not waited for")
			leased, err := Acquire[*corev1.Node](f, Scope{Labels: "app=web"})
			require.NoError(t, err)
			defer leased.Release()
			require.ErrorIs(t, leased.Informer().WaitSynced(ctx), want)
			require.ErrorIs(t, leased.Informer().WaitFresh(ctx), want)
		})
	}
}

// An invalid index of Configure is an error of the informer that has it, in each factory.
func TestInvalidIndexesOfConfigure(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		typed := NewSharedInformerFactoryWithOptions(fake.NewClientset(), 0, WithIndexes(refs.ByOwner[any]()))
		require.NoError(t, Configure(typed, informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{{Name: refs.OwnerIndex}}}))
		pods, err := For[*corev1.Pod](typed)
		require.NoError(t, err)
		require.ErrorIs(t, pods.WaitSynced(ctx), indexer.ErrIndexInvalid)
		require.ErrorIs(t, pods.Run(ctx), indexer.ErrIndexInvalid)
		nodes, err := For[*corev1.Node](typed)
		require.NoError(t, err)
		begin(t, ctx, typed)
		require.NoError(t, nodes.WaitSynced(ctx), "another type")

		untyped := NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme), 0)
		twice := refs.ByOwner[*unstructured.Unstructured]()
		require.NoError(t, untyped.Configure(podResource, informer.Options[*unstructured.Unstructured]{Indexes: []indexer.Index[*unstructured.Unstructured]{twice, twice}}))
		generic, err := untyped.For(podResource)
		require.NoError(t, err)
		require.ErrorIs(t, generic.WaitSynced(ctx), indexer.ErrIndexExists)
		require.ErrorIs(t, generic.Run(ctx), indexer.ErrIndexExists)
	})
}

// The dynamic and the metadata factory have indexes by resource, in the options of Configure.
func TestIndexesByResource(t *testing.T) {
	pod := ownedPod()
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme, pod), 0)
		ownedBy(t, ctx, f, &f.byResource, refs.ByOwner[*unstructured.Unstructured]())
	})
	bubble(t, func(t *testing.T, ctx context.Context) {
		known := metadatafake.NewTestScheme()
		require.NoError(t, metav1.AddMetaToScheme(known))
		listed := partial(pod.Namespace, pod.Name)
		listed.OwnerReferences = pod.OwnerReferences
		f := NewMetadataSharedInformerFactory(metadatafake.NewSimpleMetadataClient(known, listed), 0)
		ownedBy(t, ctx, f, &f.byResource, refs.ByOwner[*metav1.PartialObjectMetadata]())
	})
}

func ownedBy[T informer.Object](t *testing.T, ctx context.Context, f interface{ StartWithContext(context.Context) }, by *byResource[T], index indexer.Index[T]) {
	require.NoError(t, by.Configure(podResource, informer.Options[T]{Indexes: []indexer.Index[T]{index}}))
	pods, err := by.For(podResource)
	require.NoError(t, err)
	begin(t, ctx, f)
	found, err := pods.Indexer().FindKeys(refs.OwnedBy(owner))
	require.NoError(t, err)
	require.Equal(t, []indexer.Key{{Namespace: "prod", Name: "web"}}, found)
}
