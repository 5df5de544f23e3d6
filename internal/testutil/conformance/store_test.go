package conformance_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// B30: reads return the stored object itself. The keys of an index are sorted.
func TestContract_B30_WhatIsStoredIsReturned(t *testing.T) {
	eachIndexer(t, func(t T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(valueIndex))
		a, b := kit.Pod("a", "1", values("x")), kit.Pod("b", "2", values("x"))
		require.NoError(t, x.Add(b))
		require.NoError(t, x.Add(a))
		got, exists, err := x.GetByKey("default/a")
		require.NoError(t, err)
		require.True(t, exists)
		require.Same(t, a, got)
		got, exists, err = x.Get(kit.Pod("b", ""))
		require.NoError(t, err)
		require.True(t, exists)
		require.Same(t, b, got)
		require.ElementsMatch(t, []any{a, b}, x.List())
		found, err := x.ByIndex("value", "x")
		require.NoError(t, err)
		require.ElementsMatch(t, []any{a, b}, found)
		found, err = x.Index("value", a)
		require.NoError(t, err)
		require.ElementsMatch(t, []any{a, b}, found)
		keys, err := x.IndexKeys("value", "x")
		require.NoError(t, err)
		require.Equal(t, []string{"default/a", "default/b"}, keys)
		require.ElementsMatch(t, []string{"default/a", "default/b"}, x.ListKeys())

		c := kit.Pod("a", "3")
		require.NoError(t, x.Update(c))
		got, _, _ = x.GetByKey("default/a")
		require.Same(t, c, got)
		require.NoError(t, x.Delete(kit.Pod("a", "4")))
		_, exists, err = x.GetByKey("default/a")
		require.NoError(t, err)
		require.False(t, exists)
		require.NoError(t, x.Delete(cache.DeletedFinalStateUnknown{Key: "default/b"}), "a tombstone has a key, too")
		require.Empty(t, x.List())
		require.NoError(t, x.Replace([]any{a}, "7"))
		require.Equal(t, []string{"default/a"}, x.ListKeys())
		require.NoError(t, x.Resync())
	})
}

// B38: in a transaction, objects without a key are errors. The other objects are written.
func TestContract_B38_Transactions(t *testing.T) {
	eachIndexer(t, func(t T, x cache.Indexer) {
		store, ok := x.(cache.TransactionStore)
		require.True(t, ok)
		require.Nil(t, store.Transaction(
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("a", "1")},
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("b", "2")},
		))
		err := store.Transaction(
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: kit.Pod("a", "3")},
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: "no metadata"},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: kit.Pod("b", "4")},
		)
		require.NotNil(t, err)
		require.Equal(t, 3, err.TotalTransactions)
		require.Equal(t, []int{0, 2}, err.SuccessfulIndices)
		require.Len(t, err.Errors, 1)
		var key cache.KeyError
		require.ErrorAs(t, err.Errors[0], &key)
		require.Nil(t, store.Transaction(cache.Transaction{Object: kit.Pod("c", "5")}), "of no type: it writes nothing")
		require.Equal(t, []string{"default/b"}, x.ListKeys())
	})
}

// B39: the version of a store is the version of the last write.
func TestContract_B39_TheVersionFollowsWrites(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		x := r.newStore(func(any) (string, error) { return "one", nil })
		expect := func(want string, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, want, x.LastStoreSyncResourceVersion())
		}
		expect("", nil)
		expect("10", x.Add(kit.Pod("a", "10")))
		expect("20", x.Update(kit.Pod("a", "20")))
		expect("30", x.Delete(kit.Pod("a", "30")))
		expect("30", x.Add("no metadata"))
		x.Bookmark("35")
		expect("35", nil)
		expect("50", x.Replace([]any{kit.Pod("a", "40")}, "50"))
		err := x.(cache.TransactionStore).Transaction(
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: kit.Pod("a", "52")},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: kit.Pod("b", "51")},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: kit.Pod("c", "60")},
		)
		require.Nil(t, err)
		expect("60", nil)
	})
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.Empty(t, w.storeVersion())
		w.start()
		require.Equal(t, "10", w.storeVersion())
		w.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.Equal(t, "11", w.storeVersion())
		w.Send(watch.Deleted, kit.Pod("a", "12"))
		synctest.Wait()
		require.Equal(t, "12", w.storeVersion())
	})
}

// B30: an object without a key is an error that names the object.
func TestContract_B30_KeyErrors(t *testing.T) {
	eachIndexer(t, func(t T, x cache.Indexer) {
		var key cache.KeyError
		for _, err := range []error{x.Add("nothing"), x.Update("nothing"), x.Delete("nothing")} {
			require.ErrorAs(t, err, &key)
			require.Equal(t, "nothing", key.Obj)
		}
		_, _, err := x.Get("nothing")
		require.ErrorAs(t, err, &key)
	})
}

// B43, T19: users may write into an informer's store. Handlers get no events.
func TestContract_B43_T19_WritesOfOthers(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder()
		store := w.shared().GetIndexer()
		require.NoError(t, store.Add(kit.Pod("before", "1")))
		require.Equal(t, []string{"default/before"}, store.ListKeys())
		w.start()
		rec.Take()
		require.NoError(t, store.Add(kit.Pod("during", "1")))
		require.NoError(t, w.shared().GetStore().Update(kit.Pod("a", "2")))
		require.NotNil(t, w.get("default/during"))
		require.Empty(t, rec.Take())
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a@2 a@11"}, rec.Take(), "the informer continues after the user's write")
		w.stop()
		require.NoError(t, store.Delete(kit.Pod("a", "12")))
		require.Nil(t, w.get("default/a"))
	})
}

// D6: the version of a store never goes back.
func TestContract_D6_B40_TheVersionDoesNotGoBack(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		w.Send(watch.Modified, kit.Pod("a", "20"))
		w.Send(watch.Modified, kit.Pod("a", "15"))
		synctest.Wait()
		require.Equal(t, "a@15", kit.Text(w.get("default/a")), "the object is stored (T8)")
		require.Equal(t, "20", w.storeVersion())
	})
	clientgoAPIDiffers(t, func(t T, r rig) {
		x := r.newStore(cache.MetaNamespaceKeyFunc)
		require.NoError(t, x.Add(kit.Pod("a", "20")))
		require.NoError(t, x.Add(kit.Pod("b", "15")))
		require.Equal(t, "20", x.LastStoreSyncResourceVersion())
	})
}

// D6: if versions cannot be compared, the version of the last write counts.
func TestContract_D6_VersionsThatDoNotCompare(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("first", kit.Pod("a", "1"))).start()
		require.Equal(t, "first", w.storeVersion())
		w.Send(watch.Modified, kit.Pod("a", "second"))
		synctest.Wait()
		require.Equal(t, "second", w.storeVersion())
	})
}

// T19: any goroutine may write during a run.
func TestContract_T19_WritesFromAnywhere(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10")).start()
		store := w.shared().GetIndexer()
		ended := make(chan struct{})
		for n := range 4 {
			go func() {
				for m := range 50 {
					_ = store.Add(kit.Pod(fmt.Sprint("w", n, "-", m), "1"))
				}
				ended <- struct{}{}
			}()
		}
		for n := range 50 {
			w.Send(watch.Added, kit.Pod(fmt.Sprint("e", n), fmt.Sprint(n+11)))
		}
		for range 4 {
			<-ended
		}
		synctest.Wait()
		require.Len(t, w.keys(), 250)
	})
}

// T21: the key in a store is the whole string that the key function returns.
func TestContract_T21_CustomKeys(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		key := func(obj any) (string, error) { return "a/b/c/" + obj.(*corev1.Pod).Name, nil }
		for _, x := range []cache.Store{r.newStore(key), r.newIndex(key, cache.Indexers{})} {
			require.NoError(t, x.Add(kit.Pod("a", "1")))
			require.Equal(t, []string{"a/b/c/a"}, x.ListKeys())
			_, exists, err := x.GetByKey("a/b/c/a")
			require.NoError(t, err)
			require.True(t, exists)
		}
		x := r.newIndex(key, valueIndex)
		require.NoError(t, x.Add(kit.Pod("a", "1", values("x"))))
		keys, err := x.IndexKeys("value", "x")
		require.NoError(t, err)
		require.Equal(t, []string{"a/b/c/a"}, keys)
	})
}
