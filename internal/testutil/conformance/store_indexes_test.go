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

// T18: generated listers look up a namespace by an ObjectMeta.
func TestContract_T18_IndexOfAnObjectMeta(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{indexes: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}}).start()
		found, err := w.shared().GetIndexer().Index(cache.NamespaceIndex, &metav1.ObjectMeta{Namespace: "default"})
		require.NoError(t, err)
		require.Equal(t, []any{w.get("default/a")}, found)
	})
}
