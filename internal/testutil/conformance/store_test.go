package conformance_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// eachIndexer runs a test on every store with client-go's Indexer interface: a separate store, and an
// informer's store.
func eachIndexer(t *testing.T, test func(t T, x cache.Indexer)) {
	clientgoAPI(t, func(t T, r rig) { test(t, r.newIndex(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})) })
	clientgoAPI(t, func(t T, r rig) { test(t, r.world(t, kit.NewScript("1")).shared().GetIndexer()) })
}

// byValue indexes pods by the comma-separated values of a label.
func byValue(obj any) ([]string, error) {
	p, ok := obj.(*corev1.Pod)
	switch {
	case !ok:
		return nil, errors.New("not a pod")
	case p.Labels["v"] == "":
		return nil, nil
	}
	return strings.Split(p.Labels["v"], ","), nil
}

var valueIndex = cache.Indexers{"value": byValue}

func values(v string) func(*corev1.Pod) { return kit.Label("v", v) }

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

// B31: a call sees a single state, also during writes.
func TestContract_B31_OneCallSeesOneState(t *testing.T) {
	eachIndexer(t, func(t T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(valueIndex))
		state := func(version string) []any {
			return []any{kit.Pod("a", version, values("x")), kit.Pod("b", version, values("x")), kit.Pod("c", version, values("x"))}
		}
		require.NoError(t, x.Replace(state("0"), "0"))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for n := range 300 {
				_ = x.Replace(state(fmt.Sprint(n)), fmt.Sprint(n))
			}
		}()
		for range 300 {
			found, err := x.ByIndex("value", "x")
			require.NoError(t, err)
			for _, objects := range [][]any{x.List(), found} {
				require.Len(t, objects, 3)
				for _, obj := range objects {
					require.Equal(t, objects[0].(*corev1.Pod).ResourceVersion, obj.(*corev1.Pod).ResourceVersion)
				}
			}
		}
		<-ended
	})
}

// B32: an unknown index is an error. An unknown value is empty.
func TestContract_B32_UnknownIndexes(t *testing.T) {
	eachIndexer(t, func(t T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(valueIndex))
		const words = "Index with name nope does not exist"
		_, err := x.ByIndex("nope", "x")
		require.ErrorContains(t, err, words)
		_, err = x.IndexKeys("nope", "x")
		require.ErrorContains(t, err, words)
		_, err = x.Index("nope", kit.Pod("a", "1"))
		require.ErrorContains(t, err, words)
		require.Empty(t, x.ListIndexFuncValues("nope"))
		found, err := x.ByIndex("value", "nope")
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

// B34, T6: indexes can be added late. A name in use is an error, and then no index is added.
func TestContract_B34_T6_LateIndexes(t *testing.T) {
	eachIndexer(t, func(t T, x cache.Indexer) {
		require.NoError(t, x.Add(kit.Pod("a", "1", values("x"))))
		require.NoError(t, x.AddIndexers(valueIndex))
		keys, err := x.IndexKeys("value", "x")
		require.NoError(t, err)
		require.Equal(t, []string{"default/a"}, keys)
		require.Error(t, x.AddIndexers(cache.Indexers{"value": byValue, "fresh": byValue}))
		require.NotContains(t, x.GetIndexers(), "fresh")
		_, err = x.ByIndex("fresh", "x")
		require.Error(t, err)
	})
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1", values("x")))).start()
		require.NoError(t, w.addIndexers(valueIndex), "while it runs")
		require.Error(t, w.addIndexers(valueIndex))
		w.Send(watch.Added, kit.Pod("b", "11", values("x,y")))
		synctest.Wait()
		keys, err := w.by("value", "x")
		require.NoError(t, err)
		require.Equal(t, []string{"default/a", "default/b"}, keys)
	})
}

// B37: an object has any number of values. A value without objects disappears.
func TestContract_B37_ValuesComeAndGo(t *testing.T) {
	eachIndexer(t, func(t T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(valueIndex))
		expect := func(want map[string]string) {
			t.Helper()
			var names []string
			for value, names1 := range want {
				names = append(names, value)
				keys, err := x.IndexKeys("value", value)
				require.NoError(t, err)
				require.Equal(t, names1, strings.ReplaceAll(strings.Join(keys, " "), "default/", ""))
			}
			require.ElementsMatch(t, names, x.ListIndexFuncValues("value"))
		}
		require.NoError(t, x.Add(kit.Pod("a", "1", values("foo"))))
		require.NoError(t, x.Add(kit.Pod("b", "1", values("bar"))))
		expect(map[string]string{"foo": "a", "bar": "b"})
		require.NoError(t, x.Update(kit.Pod("b", "2", values("foo,bar"))))
		expect(map[string]string{"foo": "a b", "bar": "b"})
		require.NoError(t, x.Add(kit.Pod("c", "1", values("foo,bar,baz"))))
		expect(map[string]string{"foo": "a b c", "bar": "b c", "baz": "c"})
		require.NoError(t, x.Update(kit.Pod("b", "3")))
		expect(map[string]string{"foo": "a c", "bar": "c", "baz": "c"})
		require.NoError(t, x.Delete(kit.Pod("c", "2")))
		expect(map[string]string{"foo": "a"})
		require.NoError(t, x.Delete(kit.Pod("a", "2")))
		expect(nil)
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

// D4, B33: if an index function fails on an object, the object is missing only from that index.
func TestContract_D4_B33_AnIndexThatFails(t *testing.T) {
	crashes(t, "unable to calculate an index entry", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1", values("x")), kit.Pod("b", "2", values("poison"))), settings{indexes: cache.Indexers{
			"value": func(obj any) ([]string, error) {
				if found, err := byValue(obj); err != nil || found[0] != "poison" {
					return found, err
				}
				return nil, errors.New("on purpose")
			},
			"name": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil },
		}})
		errs := w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		require.Equal(t, []string{"initial a@1", "initial b@2"}, rec.Sorted())
		require.NotNil(t, w.get("default/b"))
		keys, err := w.by("name", "b")
		require.NoError(t, err)
		require.Equal(t, []string{"default/b"}, keys)
		keys, err = w.by("value", "x")
		require.NoError(t, err)
		require.Equal(t, []string{"default/a"}, keys)
		require.Len(t, errs(), 1)
		require.ErrorContains(t, errs()[0], "default/b")
		w.Send(watch.Modified, kit.Pod("b", "11", values("x")))
		synctest.Wait()
		keys, _ = w.by("value", "x")
		require.Equal(t, []string{"default/a", "default/b"}, keys, "the index function is called again")
	})
}

// D28: an index function that ends its goroutine stops the informer. Its object is not stored. In a
// user's write, the user's goroutine ends, no lock stays held, and a Replace changes nothing.
func TestContract_D28_AnIndexThatEndsItsGoroutine(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1", values("x"))), settings{indexes: cache.Indexers{
			"value": func(obj any) ([]string, error) {
				found, err := byValue(obj)
				if len(found) > 0 && found[0] == "exit" {
					runtime.Goexit()
				}
				return found, err
			},
		}})
		rec, _ := w.addRecorder()
		w.start()
		w.Send(watch.Modified, kit.Pod("a", "11", values("exit")))
		synctest.Wait()
		require.True(t, w.stopped())
		require.Equal(t, []string{"initial a@1"}, rec.Take())
		require.Equal(t, "a@1", kit.Text(w.get("default/a")))
		keys, err := w.by("value", "x")
		require.NoError(t, err)
		require.Equal(t, []string{"default/a"}, keys)
	})
	run(t, func(t T, r rig) {
		x := r.newIndex(cache.MetaNamespaceKeyFunc, cache.Indexers{"value": func(obj any) ([]string, error) {
			if obj.(*corev1.Pod).Name == "b" {
				runtime.Goexit()
			}
			return byValue(obj)
		}})
		require.NoError(t, x.Add(kit.Pod("z", "1", values("z"))))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = x.Replace([]any{kit.Pod("a", "1", values("x")), kit.Pod("b", "2", values("x")), kit.Pod("c", "3", values("x"))}, "3")
		}()
		<-ended
		require.Equal(t, []string{"default/z"}, x.ListKeys())
		keys, err := x.IndexKeys("value", "x")
		require.NoError(t, err)
		require.Empty(t, keys)
		require.NoError(t, x.Update(kit.Pod("a", "4")), "no lock stays held")
	}, sharedRig)
}

// D5, B35, B36: GetIndexers returns a copy.
func TestContract_D5_B36_GetIndexersIsACopy(t *testing.T) {
	clientgoAPIDiffers(t, func(t T, r rig) {
		x := r.newIndex(cache.MetaNamespaceKeyFunc, cache.Indexers{"value": byValue})
		got := x.GetIndexers()
		require.Contains(t, got, "value")
		got["mine"] = byValue
		require.NotContains(t, x.GetIndexers(), "mine")
	})
}

func TestContract_D5_B35_ANilMapWorks(t *testing.T) {
	clientgoAPIDiffers(t, func(t T, r rig) {
		x := r.newIndex(cache.MetaNamespaceKeyFunc, nil)
		require.NoError(t, x.AddIndexers(valueIndex))
		require.NoError(t, x.Add(kit.Pod("a", "1", values("x"))))
		require.Equal(t, []string{"x"}, x.ListIndexFuncValues("value"))
	})
}

func TestContract_D5_B35_TheMapIsNotKept(t *testing.T) {
	clientgoAPIDiffers(t, func(t T, r rig) {
		mine := cache.Indexers{"value": byValue}
		x := r.newIndex(cache.MetaNamespaceKeyFunc, mine)
		require.NoError(t, x.AddIndexers(cache.Indexers{"other": byValue}))
		require.Len(t, mine, 1)
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

// T18: generated listers look up a namespace by an ObjectMeta.
func TestContract_T18_IndexOfAnObjectMeta(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{indexes: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}}).start()
		found, err := w.shared().GetIndexer().Index(cache.NamespaceIndex, &metav1.ObjectMeta{Namespace: "default"})
		require.NoError(t, err)
		require.Equal(t, []any{w.get("default/a")}, found)
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
