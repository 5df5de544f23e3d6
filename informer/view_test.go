package informer_test

import (
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// A typed view of an informer whose type is known at run time shows and delivers pods.
func TestATypedViewOfAnInformerOfAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "2"))
		shared := informer.JoinShared(rig.LateOf(s), reflect.TypeFor[*corev1.Pod](), informer.Options[any]{Observe: rig.Observed})
		i, ok := informer.As[*corev1.Pod](shared)
		require.True(t, ok)
		_, ok = informer.As[*corev1.Service](shared)
		require.False(t, ok, "of another type")
		require.NoError(t, i.AddIndexes(indexer.Index[*corev1.Pod]{Name: "name", Append: func(v []string, p *corev1.Pod) []string {
			return append(v, p.Name)
		}}))
		require.NoError(t, i.SetTransform(func(p *corev1.Pod) (*corev1.Pod, error) { p.ManagedFields = nil; return p, nil }))
		every, last := &rig.Journal{}, &rig.Journal{}
		_, err := i.Handle(every, informer.HandlerOptions{})
		require.NoError(t, err)
		_, err = i.Handle(last, informer.HandlerOptions{Delivery: informer.Latest})
		require.NoError(t, err)
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, every.Take())
		s.Send(watch.Modified, kit.Pod("a", "11", kit.Label("app", "x")))
		require.Equal(t, []string{"update a@1 a@11"}, every.Take())
		require.NoError(t, i.WaitDelivered(t.Context(), "11"))

		x := i.Indexer()
		a, ok := x.Get(rig.Named("a"))
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
		require.Equal(t, []indexer.Key{rig.Named("a")}, keys)
		values, err := x.Values("name")
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b"}, values)
		list, err := i.Lister().Namespace("default").List(labels.SelectorFromSet(labels.Set{"app": "x"}))
		require.NoError(t, err)
		require.Equal(t, []*corev1.Pod{a}, list)
		require.Same(t, a, i.Shared().GetStore().List()[0].(*corev1.Pod), "the same store")
		again, ok := informer.As[*corev1.Pod](i.Shared())
		require.True(t, ok)
		require.Equal(t, 2, again.Indexer().Len())
	})
}

func TestContract_D25_AnInformerOfOneTypeKnownAtRunTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := rig.NewEvents()
		s := rig.NewScript("10", kit.Pod("a", "1"))
		shared := informer.JoinShared(rig.LateOf(s), reflect.TypeFor[*corev1.Pod](), informer.Options[any]{Observe: seen.Observe})
		require.NoError(t, shared.SetTransform(func(any) (any, error) { return &corev1.Service{}, nil }))
		i, _ := informer.As[*corev1.Pod](shared)
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, 1, i.Status().Quarantined)
		failed := rig.Of[*informer.QuarantineError](seen)
		require.Len(t, failed, 1)
		require.ErrorIs(t, failed[0], informer.ErrType)
		require.ErrorContains(t, failed[0], "*v1.Pod")
		require.ErrorContains(t, failed[0], "*v1.Service")
	})
}

func TestAsOfATypedInformer(t *testing.T) {
	i := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{})
	same, ok := informer.As[*corev1.Pod](i.Shared())
	require.True(t, ok)
	require.Same(t, i.Indexer(), same.Indexer())
	_, ok = informer.As[*corev1.Pod](cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil))
	require.False(t, ok, "of another module")
}

// client-go's accessors wrap informers in typed views. As, SharedOf and Measure accept an informer
// of this module in such a view too, and refuse all other informers and wrappers.
func TestTypedViewsOfClientGo(t *testing.T) {
	i := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{})
	wrapped := cache.NewTypedSharedIndexInformer[*corev1.Pod](i.Shared())
	twice := cache.NewTypedSharedIndexInformer[*corev1.Pod](wrapped)
	for _, v := range []cache.SharedIndexInformer{i.Shared(), wrapped, twice} {
		mine, ok := informer.As[*corev1.Pod](v)
		require.True(t, ok)
		require.Same(t, i, mine)
		_, ok = informer.As[*corev1.Node](v)
		require.False(t, ok)
		ours, ok := informer.SharedOf(v)
		require.True(t, ok)
		require.Same(t, i.Shared(), ours)
		require.NoError(t, informer.SetMetrics(v, cache.InformerNameAndResource{}, nil))
	}

	theirs := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	for name, v := range map[string]cache.SharedIndexInformer{
		"nil":                      nil,
		"client-go's":              theirs,
		"client-go's in a view":    cache.NewTypedSharedIndexInformer[*corev1.Pod](theirs),
		"nothing in a view":        cache.NewTypedSharedIndexInformer[*corev1.Pod](nil),
		"somebody else's wrapping": struct{ cache.SharedIndexInformer }{i.Shared()},
	} {
		_, ok := informer.As[*corev1.Pod](v)
		require.False(t, ok, name)
		_, ok = informer.SharedOf(v)
		require.False(t, ok, name)
		require.ErrorIs(t, informer.SetMetrics(v, cache.InformerNameAndResource{}, nil), informer.ErrType, name)
	}
}

// Listers name the resource of the source, unless the options name another one.
func TestListersNameTheResourceOfTheSource(t *testing.T) {
	source := rig.SourceOf(rig.Silent{})
	source.Resource = corev1.SchemeGroupVersion.WithResource("pods")
	for want, o := range map[string]informer.Options[*corev1.Pod]{
		`pods "a" not found`:   {},
		`beasts "a" not found`: {Resource: schema.GroupResource{Resource: "beasts"}},
	} {
		_, err := informer.New(source, o).Lister().Namespace("default").Get("a")
		require.EqualError(t, err, want)
	}
}
