package informer_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// GetIndexers of client-go's API also returns the indexes that were declared with types.
func TestIndexesWithTypesAreShownToClientgo(t *testing.T) {
	byName := indexer.Index[*corev1.Pod]{Name: "name", Append: func(values []string, p *corev1.Pod) []string { return append(values, p.Name) }}
	i := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byName}})
	x := i.Shared().GetIndexer()
	require.NoError(t, x.Add(kit.Pod("a", "1")))
	require.ElementsMatch(t, []string{"name", indexer.NamespaceIndex}, keysOf(x.GetIndexers()))

	values, err := x.GetIndexers()["name"](kit.Pod("b", "1"))
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, values)
	_, err = x.GetIndexers()["name"]("no pod")
	require.ErrorContains(t, err, `index "name"`)
	found, err := x.Index("name", kit.Pod("a", "7"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	_, err = x.Index("name", &corev1.Node{})
	require.Error(t, err)
}

func keysOf(ix cache.Indexers) (names []string) {
	for name := range ix {
		names = append(names, name)
	}
	return names
}

// An index and its function become visible together, once the index is filled.
func TestAnIndexIsNeverVisibleWithoutItsFunction(t *testing.T) {
	x := informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, nil, informer.StoreOptions{})
	seen := 0
	require.NoError(t, x.AddIndexers(cache.Indexers{"app": byLabels}))
	late := cache.Indexers{"late": func(any) ([]string, error) {
		seen++
		if seen == 1 {
			require.NotContains(t, x.GetIndexers(), "late", "not before it is filled")
		}
		return nil, nil
	}}
	require.NoError(t, x.Add(kit.Pod("a", "1")))
	require.NoError(t, x.AddIndexers(late))
	require.NotZero(t, seen)
	require.NotNil(t, x.GetIndexers()["late"])
	require.ErrorIs(t, x.AddIndexers(cache.Indexers{"late": byLabels}), indexer.ErrIndexExists)
	before := seen
	_, err := x.GetIndexers()["late"](kit.Pod("b", "1"))
	require.NoError(t, err)
	require.Equal(t, before+1, seen, "an index that could not be added replaces no function")
}

// The key of a cluster-scoped object is its name, even if the name holds a slash.
func TestAClusterScopedObjectWithASlashInItsName(t *testing.T) {
	x := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Node]{}).Shared().GetIndexer()
	node := func(version string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "rack/7", ResourceVersion: version}}
	}
	require.NoError(t, x.Add(node("1")))
	require.NoError(t, x.Update(node("2")))
	got, exists, err := x.GetByKey("rack/7")
	require.NoError(t, err)
	require.True(t, exists)
	require.Equal(t, "2", got.(*corev1.Node).ResourceVersion)
	_, exists, err = x.Get(node("3"))
	require.NoError(t, err)
	require.True(t, exists)
	require.Equal(t, []string{"rack/7"}, x.ListKeys())
	require.NoError(t, x.Delete(cache.DeletedFinalStateUnknown{Key: "rack/7"}))
	require.Empty(t, x.ListKeys())
}

// Without an informer, Add and Update of a store return the error of an index function. Replace and
// Transaction do not return it, but report it.
func TestAnIndexFunctionThatFailsInAStoreWithoutInformerIsNotSilent(t *testing.T) {
	s := clientgostore.NewFree(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": byLabels})
	var recorded []error
	s.Failed = func(err error) { recorded = append(recorded, err) }
	for _, poison := range []string{"error", "panic"} {
		bad := kit.Pod("a", "1", kit.Label("poison", poison))
		require.ErrorIs(t, s.Add(bad), rig.ErrPoison)
		require.ErrorIs(t, s.Update(bad), rig.ErrPoison)
		require.Empty(t, recorded, "the caller got the failure as an error")

		require.NoError(t, s.Replace([]any{bad, kit.Pod("b", "1")}, "1"))
		require.Nil(t, s.Transaction(cache.Transaction{Type: cache.TransactionTypeUpdate, Object: bad}))
		require.Len(t, recorded, 2)
		for _, err := range recorded {
			require.ErrorIs(t, err, rig.ErrPoison)
			var index *indexer.IndexError
			require.True(t, errors.As(err, &index))
			require.True(t, strings.Contains(index.Error(), `"app"`))
		}
		require.Len(t, s.List(), 2, "stored it is")
		recorded = nil
	}
}

// AddIndexers of a store without informer adds the index, and reports the objects on which its
// function fails.
func TestAnIndexAddedLaterToAStoreWithoutInformerIsNotSilent(t *testing.T) {
	s := clientgostore.NewFree(cache.MetaNamespaceKeyFunc, nil)
	var recorded []error
	s.Failed = func(err error) { recorded = append(recorded, err) }
	require.NoError(t, s.Add(kit.Pod("bad", "1", rig.Sick)))
	require.NoError(t, s.Add(kit.Pod("good", "1")))
	require.Empty(t, recorded)
	require.NoError(t, s.AddIndexers(cache.Indexers{"app": byLabels}))
	require.Len(t, recorded, 1)
	require.ErrorIs(t, recorded[0], rig.ErrPoison)
	var index *indexer.IndexError
	require.ErrorAs(t, recorded[0], &index)
	require.Equal(t, "bad", index.Key.Name)
}

// An index without a function is left out of a store, and the log says so.
func TestAnIndexWithoutAFunctionIsReported(t *testing.T) {
	var lines strings.Builder
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(&lines, nil)))
	defer klog.SetLogger(klog.Logger{}) // as in TestMain
	informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, cache.Indexers{"unmade": nil}, informer.StoreOptions{})
	require.Contains(t, lines.String(), "unmade")
	require.Contains(t, lines.String(), indexer.ErrIndexInvalid.Error())
}

// An index may have an empty name, in stores and informers, as in client-go. One without a function
// is left out of a store, and no other index with it.
func TestAnIndexWithoutANameOrAFunction(t *testing.T) {
	byName := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil }
	for name, x := range map[string]cache.Indexer{
		"clientgo": cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"": byName, "other": byName}),
		"free":     informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, cache.Indexers{"": byName, "none": nil, "other": byName}, informer.StoreOptions{}),
		"informer": newShared(kit.ListerWatcher{Source: rig.NewScript("1")}, &corev1.Pod{}, 0, cache.Indexers{"": byName, "other": byName}).GetIndexer(),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, x.Add(kit.Pod("a", "1")))
			for _, index := range []string{"", "other"} {
				found, err := x.ByIndex(index, "a")
				require.NoError(t, err)
				require.Len(t, found, 1)
				require.Equal(t, []string{"a"}, x.ListIndexFuncValues(index))
				require.NotNil(t, x.GetIndexers()[index])
				require.Error(t, x.AddIndexers(cache.Indexers{index: byName}))
			}
		})
	}
}
