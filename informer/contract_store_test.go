package informer_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// eachIndexer runs a test with every implementation of client-go's Indexer: a store of its own, and
// the stores of informers.
func eachIndexer(t *testing.T, test func(t *testing.T, x cache.Indexer)) {
	t.Run("NewIndexerWithOptions", func(t *testing.T) {
		test(t, informer.NewIndexerWithOptions(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{}, informer.StoreOptions{}))
	})
	for name, create := range clientgoInformers {
		t.Run(name, func(t *testing.T) { test(t, create(rig.NewScript("1"), 0, cache.Indexers{}).GetIndexer()) })
	}
}

func byLabels(obj any) (values []string, err error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, errors.New("not a pod")
	}
	if p.Labels["poison"] == "error" {
		return nil, rig.ErrPoison
	}
	if p.Labels["poison"] == "panic" {
		panic(rig.ErrPoison)
	}
	if p.Labels["poison"] == "exit" {
		runtime.Goexit()
	}
	for k, v := range p.Labels {
		values = append(values, k+"="+v)
	}
	return values, nil
}

// An Indexer keeps the statements about reads (B30, B32), added indexes (B34, T6), index values
// (B37), the store's version (B39) and the methods that must exist (T1).
func TestContract_B30_B39_TheIndexer(t *testing.T) {
	eachIndexer(t, func(t *testing.T, x cache.Indexer) {
		a, b := kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "2")
		require.NoError(t, x.Add(a))
		require.NoError(t, x.Update(b))
		require.NoError(t, x.AddIndexers(cache.Indexers{"labels": byLabels}), "T6, B34: on a filled store")
		got, ok, err := x.GetByKey("default/a")
		require.NoError(t, err)
		require.True(t, ok)
		require.Same(t, a, got, "B30")
		got, ok, err = x.Get(&metav1.ObjectMeta{Namespace: "default", Name: "b"})
		require.NoError(t, err)
		require.True(t, ok)
		require.Same(t, b, got)
		_, ok, err = x.GetByKey("nope")
		require.NoError(t, err)
		require.False(t, ok)
		_, _, err = x.Get("no object")
		require.ErrorAs(t, err, &cache.KeyError{})
		require.ErrorAs(t, x.Add("no object"), &cache.KeyError{})
		require.ElementsMatch(t, []any{a, b}, x.List())
		require.ElementsMatch(t, []string{"default/a", "default/b"}, x.ListKeys())

		found, err := x.ByIndex("labels", "app=x")
		require.NoError(t, err)
		require.Equal(t, []any{a}, found)
		found, err = x.ByIndex("labels", "app=y")
		require.NoError(t, err)
		require.Empty(t, found, "B32")
		found, err = x.Index("labels", kit.Pod("z", "1", kit.Label("app", "x")))
		require.NoError(t, err)
		require.Equal(t, []any{a}, found)
		_, err = x.Index("labels", "no pod")
		require.ErrorContains(t, err, "not a pod")
		keys, err := x.IndexKeys("labels", "app=x")
		require.NoError(t, err)
		require.Equal(t, []string{"default/a"}, keys)
		require.Equal(t, []string{"app=x"}, x.ListIndexFuncValues("labels"))

		const unknown = "Index with name nope does not exist"
		_, err = x.ByIndex("nope", "x")
		require.ErrorContains(t, err, unknown)
		_, err = x.Index("nope", a)
		require.ErrorContains(t, err, unknown)
		_, err = x.IndexKeys("nope", "x")
		require.ErrorContains(t, err, unknown)
		require.Empty(t, x.ListIndexFuncValues("nope"), "B32")

		require.Error(t, x.AddIndexers(cache.Indexers{"more": byLabels, "labels": byLabels}))
		_, err = x.ByIndex("more", "x")
		require.Error(t, err, "B34: a conflict adds nothing")

		require.NoError(t, x.Update(kit.Pod("a", "3")))
		require.Empty(t, x.ListIndexFuncValues("labels"), "B37")
		require.Equal(t, "3", x.LastStoreSyncResourceVersion(), "B39")
		require.NoError(t, x.Delete(cache.DeletedFinalStateUnknown{Key: "default/nope"}), "of nothing")
		require.NoError(t, x.Delete(kit.Pod("a", "5")))
		require.Equal(t, "5", x.LastStoreSyncResourceVersion())
		x.Bookmark("7")
		require.Equal(t, "7", x.LastStoreSyncResourceVersion())
		x.Bookmark("6")
		require.Equal(t, "7", x.LastStoreSyncResourceVersion(), "D6")
		require.NoError(t, x.Resync())
		require.NoError(t, x.Replace([]any{kit.Pod("c", "8"), kit.Pod("d", "9")}, "10"))
		require.ElementsMatch(t, []string{"default/c", "default/d"}, x.ListKeys())
		require.Equal(t, "10", x.LastStoreSyncResourceVersion())
		require.Error(t, x.Replace([]any{kit.Pod("e", "8"), "no object"}, "11"))
		require.ElementsMatch(t, []string{"default/c", "default/d"}, x.ListKeys(), "all or nothing")
	})
}

// B38: a transaction returns the changes that fail, and makes the other changes.
func TestContract_B38_Transactions(t *testing.T) {
	eachIndexer(t, func(t *testing.T, x cache.Indexer) {
		failed := x.(cache.TransactionStore).Transaction(
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("a", "1")},
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: "no object"},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: kit.Pod("b", "3")},
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: kit.Pod("a", "2")},
		)
		require.NotNil(t, failed)
		require.Equal(t, 4, failed.TotalTransactions)
		require.Equal(t, []int{0, 2, 3}, failed.SuccessfulIndices)
		require.Len(t, failed.Errors, 1)
		require.Equal(t, []string{"default/b"}, x.ListKeys())
		require.Nil(t, x.(cache.TransactionStore).Transaction())
	})
}

// D4: an error or a panic of an index function leaves the object out of that index alone.
func TestContract_D4_InClientgosAPI(t *testing.T) {
	eachIndexer(t, func(t *testing.T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(cache.Indexers{"labels": byLabels, "name": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.Pod).Name}, nil
		}}))
		for _, poison := range []string{"error", "panic"} {
			err := x.Add(kit.Pod("a", "1", kit.Label("poison", poison)))
			if _, free := x.(*clientgostore.Free); !free {
				require.NoError(t, err, "an informer reports it")
			} else {
				require.ErrorContains(t, err, `index "labels" leaves out "default/a"`)
			}
			require.Len(t, x.List(), 1)
			found, err := x.ByIndex("name", "a")
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Empty(t, x.ListIndexFuncValues("labels"))
			require.NoError(t, x.Add(kit.Pod("a", "2", kit.Label("app", "x"))))
			require.Equal(t, []string{"app=x"}, x.ListIndexFuncValues("labels"), "with its next version")
		}
	})
}

func TestContract_D4_TheErrorHandlerHearsOfIndexes(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1", rig.Sick))
		i := create(s, 0, cache.Indexers{"labels": byLabels})
		errs := collectErrors(t, i)
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		require.Equal(t, []string{"initial a@1"}, r.Take())
		require.Len(t, *errs, 1)
		require.ErrorIs(t, (*errs)[0], rig.ErrPoison)
		require.ErrorContains(t, (*errs)[0], "default/a")
	})
}

// D5: GetIndexers returns a copy, and the caller's map is never changed. client-go hands out its
// own map (B36) and keeps the caller's (B35).
func TestContract_D5_GetIndexersIsACopy(t *testing.T) {
	mine := cache.Indexers{"labels": byLabels}
	for _, x := range []cache.Indexer{
		informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, mine, informer.StoreOptions{}),
		clientgoInformers["any"](rig.NewScript("1"), 0, mine).GetIndexer(),
	} {
		shown := x.GetIndexers()
		require.Len(t, shown, 1)
		shown["other"] = byLabels
		require.Len(t, x.GetIndexers(), 1)
		require.NoError(t, x.AddIndexers(cache.Indexers{"more": byLabels}))
		require.Len(t, x.GetIndexers(), 2)
		require.Len(t, mine, 1)
	}
	for _, x := range []cache.Indexer{
		informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, nil, informer.StoreOptions{}),
		clientgoInformers["any"](rig.NewScript("1"), 0, nil).GetIndexer(),
	} {
		require.NoError(t, x.AddIndexers(cache.Indexers{"labels": byLabels}), "k/k#110660")
		require.Len(t, x.GetIndexers(), 1)
	}
}

// T18: Index runs the index function on any object that it is given, because generated listers pass
// an ObjectMeta.
func TestContract_T18_IndexRunsTheFunctionOnWhatItGets(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		i := create(rig.NewScript("10", kit.Pod("a", "1")), 0, byNamespace)
		startClientgo(t, i)
		found, err := i.GetIndexer().Index(cache.NamespaceIndex, &metav1.ObjectMeta{Namespace: "default"})
		require.NoError(t, err)
		require.Len(t, found, 1)
		found, err = i.GetIndexer().Index(cache.NamespaceIndex, &metav1.ObjectMeta{Namespace: "other"})
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

// Index with several values returns each object once.
func TestIndexOfSeveralValues(t *testing.T) {
	eachIndexer(t, func(t *testing.T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(cache.Indexers{"labels": byLabels}))
		both := func(p *corev1.Pod) { p.Labels = map[string]string{"app": "x", "tier": "y"} }
		require.NoError(t, x.Add(kit.Pod("a", "1", both)))
		require.NoError(t, x.Add(kit.Pod("b", "2", kit.Label("tier", "y"))))
		found, err := x.Index("labels", kit.Pod("z", "1", both))
		require.NoError(t, err)
		require.Len(t, found, 2)
		found, err = x.Index("labels", kit.Pod("z", "1"))
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

// T19: users may write into the store before, during and after Run, from any goroutine. Handlers
// get no events of these writes, nor of what the first list does to them.
func TestContract_T19_WritesAtAnyTime(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := create(s, 0, byNamespace)
		r, _ := addRecorder(t, i)
		require.NoError(t, i.GetIndexer().Add(kit.Pod("mine", "5")))
		require.Len(t, i.GetStore().List(), 1, "before Run")
		stop := startClientgo(t, i)
		require.Equal(t, []string{"initial a@1"}, r.Take())
		require.Equal(t, []string{"default/a"}, i.GetStore().ListKeys(), "the list replaced what was there")

		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for n := range 200 {
					name := fmt.Sprint("w", w, "-", n%20)
					if n%3 == 2 {
						_ = i.GetIndexer().Delete(kit.Pod(name, "1"))
					} else {
						_ = i.GetStore().Update(kit.Pod(name, "1"))
					}
				}
				_ = i.GetStore().Update(kit.Pod(fmt.Sprint("end", w), "1"))
			})
		}
		for n := range 100 {
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(n+11)))
		}
		wg.Wait()
		require.Len(t, r.Take(), 100, "no events of writes")
		for w := range 4 {
			_, ok, _ := i.GetStore().GetByKey(fmt.Sprint("default/end", w))
			require.True(t, ok)
		}
		require.Equal(t, "110", i.LastSyncResourceVersion())
		stop()
		require.NoError(t, i.GetStore().Add(kit.Pod("after", "9")))
		require.NoError(t, i.GetStore().Replace([]any{kit.Pod("last", "9")}, "9"))
		require.Equal(t, []string{"default/last"}, i.GetStore().ListKeys(), "after Run")
		require.Equal(t, "110", i.LastSyncResourceVersion())
	})
}

// T21: a store uses the whole string of its key function as the key.
func TestContract_T21_CustomKeys(t *testing.T) {
	key := func(obj any) (string, error) {
		s, ok := obj.(string)
		if !ok {
			return "", errors.New("not a string")
		}
		return s, nil
	}
	x := informer.NewIndexerWithOptions(key, nil, informer.StoreOptions{})
	for _, k := range []string{"a/b/c", "/x", "", "a/", "plain"} {
		require.NoError(t, x.Add(k))
		got, ok, err := x.GetByKey(k)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, k, got)
	}
	require.ElementsMatch(t, []string{"a/b/c", "/x", "", "a/", "plain"}, x.ListKeys())
	require.Error(t, x.Add(1))
	require.NoError(t, x.Delete("a/b/c"))
	require.Len(t, x.List(), 4)
	require.Empty(t, x.LastStoreSyncResourceVersion(), "B39: objects without metadata leave it")
}

func TestAnIndexerWithUselessIndexesStillStores(t *testing.T) {
	x := informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, cache.Indexers{"x": nil}, informer.StoreOptions{})
	require.NoError(t, x.Add(kit.Pod("a", "1")))
	require.Len(t, x.List(), 1)
	_, err := x.ByIndex("x", "y")
	require.Error(t, err)
}
