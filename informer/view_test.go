package informer

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A typed view of an informer whose type is known at run time shows and delivers pods.
func TestATypedViewOfAnInformerOfAnything(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "2"))
		shared := JoinShared(lateOf(s), reflect.TypeFor[*corev1.Pod](), Options[any]{Observe: observed})
		i, ok := As[*corev1.Pod](shared)
		require.True(t, ok)
		_, ok = As[*corev1.Service](shared)
		require.False(t, ok, "of another type")
		require.NoError(t, i.AddIndexes(indexer.Index[*corev1.Pod]{Name: "name", Append: func(v []string, p *corev1.Pod) []string {
			return append(v, p.Name)
		}}))
		require.NoError(t, i.SetTransform(func(p *corev1.Pod) (*corev1.Pod, error) { p.ManagedFields = nil; return p, nil }))
		every, last := &journal{}, &journal{}
		_, err := i.Handle(every, HandlerOptions{})
		require.NoError(t, err)
		_, err = i.Handle(last, HandlerOptions{Delivery: Latest})
		require.NoError(t, err)
		start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, every.take())
		s.Send(watch.Modified, kit.Pod("a", "11", kit.Label("app", "x")))
		require.Equal(t, []string{"update a@1 a@11"}, every.take())
		require.NoError(t, i.WaitDelivered(t.Context(), "11"))

		x := i.Indexer()
		a, ok := x.Get(named("a"))
		require.True(t, ok)
		require.Equal(t, "11", a.ResourceVersion)
		require.Len(t, x.Snapshot().List(), 2)
		require.Equal(t, 2, x.Len())
		require.Equal(t, "11", x.Version())
		require.Len(t, x.Keys(), 2)
		require.ElementsMatch(t, []string{indexer.NamespaceIndex, "name"}, x.Indexes())
		for p := range x.By("name", "a") {
			require.Same(t, a, p)
		}
		found, err := x.Lookup("name", "a")
		require.NoError(t, err)
		require.Same(t, a, found.At(0))
		_, err = x.Lookup("none", "a")
		require.ErrorIs(t, err, indexer.ErrUnknownIndex)
		keys, err := x.FindKeys(indexer.Query{Fields: map[string]string{"name": "a"}})
		require.NoError(t, err)
		require.Equal(t, []indexer.Key{named("a")}, keys)
		values, err := x.Values("name")
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b"}, values)
		list, err := i.Lister().Namespace("default").List(labels.SelectorFromSet(labels.Set{"app": "x"}))
		require.NoError(t, err)
		require.Equal(t, []*corev1.Pod{a}, list)
		require.Same(t, a, i.Shared().GetStore().List()[0].(*corev1.Pod), "the same store")
		again, ok := As[*corev1.Pod](i.Shared())
		require.True(t, ok)
		require.Equal(t, 2, again.Indexer().Len())
	})
}

func TestContract_D25_AnInformerOfOneTypeKnownAtRunTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		seen := newEvents()
		s := newScript("10", kit.Pod("a", "1"))
		shared := JoinShared(lateOf(s), reflect.TypeFor[*corev1.Pod](), Options[any]{Observe: seen.observe})
		require.NoError(t, shared.SetTransform(func(any) (any, error) { return &corev1.Service{}, nil }))
		i, _ := As[*corev1.Pod](shared)
		start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, 1, i.Status().Quarantined)
		failed := of[*QuarantineError](seen)
		require.Len(t, failed, 1)
		require.ErrorIs(t, failed[0], ErrType)
		require.ErrorContains(t, failed[0], "*v1.Pod")
		require.ErrorContains(t, failed[0], "*v1.Service")
	})
}

func TestAsOfATypedInformer(t *testing.T) {
	i := New(sourceOf(newScript("1")), Options[*corev1.Pod]{})
	same, ok := As[*corev1.Pod](i.Shared())
	require.True(t, ok)
	require.Same(t, i.Indexer(), same.Indexer())
	_, ok = As[*corev1.Pod](cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil))
	require.False(t, ok, "of another module")
}
