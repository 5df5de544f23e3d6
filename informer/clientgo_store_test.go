package informer_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// B31: a call of Index sees one state of the store. An object that moves between two index values
// is found under exactly one of them.
func TestContract_B31_IndexOfSeveralValuesIsOneMoment(t *testing.T) {
	eachIndexer(t, func(t *testing.T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(cache.Indexers{"labels": byLabels}))
		both := kit.Pod("z", "1", func(p *corev1.Pod) { p.Labels = map[string]string{"side": "left", "other": "right"} })
		right, left := kit.Pod("a", "1", kit.Label("other", "right")), kit.Pod("a", "1", kit.Label("side", "left"))
		require.NoError(t, x.Add(left))
		var writer sync.WaitGroup
		done := make(chan struct{})
		writer.Go(func() {
			for !kit.Closed(done) {
				_, _ = x.Update(right), x.Update(left)
			}
		})
		defer writer.Wait()
		defer close(done)
		for range 3_000 {
			found, err := x.Index("labels", both)
			require.NoError(t, err)
			require.Len(t, found, 1)
		}
	})
}

// B39: the store's version is the version of the last write, Replace or bookmark. Objects without
// metadata leave it alone.
func TestContract_B39_TheVersionOfAStore(t *testing.T) {
	without := &metav1.TypeMeta{}
	key := func(obj any) (string, error) {
		if obj == any(without) {
			return "without", nil
		}
		return cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	}
	store := informer.NewIndexerWithOptions(key, nil, informer.StoreOptions{})
	at := func(want string, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, want, store.LastStoreSyncResourceVersion())
	}
	at("", nil)
	at("1", store.Add(kit.Pod("a", "1")))
	at("3", store.Update(kit.Pod("a", "3")))
	at("3", store.Add(without))
	at("3", store.Delete(cache.DeletedFinalStateUnknown{Key: "default/a"}))
	at("5", store.Delete(kit.Pod("b", "5")))
	at("7", store.Replace([]any{kit.Pod("c", "6")}, "7"))
	at("7", store.Add(kit.Pod("old", "2"))) // D6: the version does not go back
	txns := func(versions ...string) error {
		var list []cache.Transaction
		for i, v := range versions {
			list = append(list, cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod(fmt.Sprint("t", i), v)})
		}
		if failed := store.(cache.TransactionStore).Transaction(list...); failed != nil {
			return failed
		}
		return nil
	}
	at("9", txns("8", "9"))
	at("9", txns())
	store.Bookmark("12")
	at("12", nil)
}

// B37: an object may have several values in an index, and a value without objects is not listed.
func TestContract_B37_ValuesComeAndGo(t *testing.T) {
	x := informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, cache.Indexers{"labels": byLabels}, informer.StoreOptions{})
	labels := func(pairs ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Labels = map[string]string{}
			for _, pair := range pairs {
				p.Labels[pair] = "yes"
			}
		}
	}
	values := func(want ...string) {
		t.Helper()
		require.ElementsMatch(t, want, x.ListIndexFuncValues("labels"))
	}
	require.NoError(t, x.Add(kit.Pod("a", "1", labels("one", "two"))))
	require.NoError(t, x.Add(kit.Pod("b", "1", labels("two"))))
	values("one=yes", "two=yes")
	require.NoError(t, x.Update(kit.Pod("a", "2", labels("two", "three"))))
	values("two=yes", "three=yes")
	require.NoError(t, x.Delete(kit.Pod("b", "1")))
	values("two=yes", "three=yes")
	keys, err := x.IndexKeys("labels", "two=yes")
	require.NoError(t, err)
	require.Equal(t, []string{"default/a"}, keys)
	require.NoError(t, x.Replace([]any{kit.Pod("c", "3", labels())}, "4"))
	values()
}

// B38: if no change of a transaction succeeds, SuccessfulIndices is empty but not nil.
func TestContract_B38_ATransactionOfWhichNothingSucceeds(t *testing.T) {
	failed := informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, nil, informer.StoreOptions{}).(cache.TransactionStore).Transaction(
		cache.Transaction{Type: cache.TransactionTypeAdd, Object: 1}, cache.Transaction{Type: cache.TransactionTypeDelete, Object: 2})
	require.Equal(t, []int{}, failed.SuccessfulIndices)
	require.Len(t, failed.Errors, 2)
	require.ErrorContains(t, failed, "2/2")
}

// A store's transform applies to objects that are put into the store, not to the arguments of Get
// and Delete.
func TestAStoreWithATransform(t *testing.T) {
	store := informer.NewIndexerWithOptions(cache.MetaNamespaceKeyFunc, nil, informer.StoreOptions{Transform: func(obj any) (any, error) {
		p, ok := obj.(*corev1.Pod)
		if !ok || p.Name == "bad" {
			return nil, rig.ErrPoison
		}
		return p.Name + "@" + p.ResourceVersion, nil
	}})
	require.NoError(t, store.Add(kit.Pod("a", "1")))
	require.NoError(t, store.Update(kit.Pod("b", "2")))
	require.ElementsMatch(t, []any{"a@1", "b@2"}, store.List())
	got, ok, err := store.Get(kit.Pod("a", "9"))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "a@1", got)
	require.ErrorIs(t, store.Add(kit.Pod("bad", "1")), rig.ErrPoison)
	require.ErrorIs(t, store.Replace([]any{kit.Pod("c", "3"), kit.Pod("bad", "1")}, "4"), rig.ErrPoison)
	require.Len(t, store.List(), 2, "all or nothing")
	require.NoError(t, store.Delete(kit.Pod("a", "1")))
	require.NoError(t, store.Replace([]any{kit.Pod("c", "3")}, "4"))
	require.Equal(t, []any{"c@3"}, store.List())
	require.Nil(t, store.(cache.TransactionStore).Transaction(cache.Transaction{Type: cache.TransactionTypeUpdate, Object: kit.Pod("d", "5")}))
	require.ElementsMatch(t, []any{"c@3", "d@5"}, store.List())
}

// Every write wraps an error of the key function in a cache.KeyError.
func TestKeyErrorsAreWrapped(t *testing.T) {
	ours := errors.New("ours")
	store := informer.NewIndexerWithOptions(func(any) (string, error) { return "", ours }, nil, informer.StoreOptions{})
	for _, err := range []error{store.Add(1), store.Update(1), store.Delete(1), store.Replace([]any{1}, "")} {
		require.ErrorIs(t, err, ours)
		require.ErrorAs(t, err, &cache.KeyError{})
	}
}

// B81: removing a handler is idempotent, and no error for a handler of another informer. A
// registration of another type is refused.
func TestContract_B81_RemovingHandlers(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		i, other := create(rig.NewScript("10", kit.Pod("a", "1")), 0, nil), create(rig.NewScript("10"), 0, nil)
		_, reg := addRecorder(t, i)
		_, foreign := addRecorder(t, other)
		require.NoError(t, i.RemoveEventHandler(foreign), "of another informer")
		require.False(t, kit.Closed(foreign.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()))
		require.NoError(t, i.RemoveEventHandler(reg))
		require.NoError(t, i.RemoveEventHandler(reg), "again")
		require.ErrorIs(t, i.RemoveEventHandler(nil), informer.ErrType)
		require.ErrorIs(t, i.RemoveEventHandler(foreignRegistration{}), informer.ErrType)
		require.NoError(t, cache.ShutDownEventHandler(i, reg), "it never ran")
		r, late := addRecorder(t, i)
		startClientgo(t, i)
		require.Equal(t, []string{"initial a@1"}, r.Take())
		require.NoError(t, cache.ShutDownEventHandler(i, late))
		require.True(t, kit.Closed(late.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()))
	})
}

// foreignRegistration is a registration that this module has not made.
type foreignRegistration struct {
	cache.ResourceEventHandlerRegistration
}

// An IndexFunc may return a slice that belongs to the object: the store does not change it.
func TestWhatAnIndexFuncReturnsIsNotWritten(t *testing.T) {
	finalizers := func(obj any) ([]string, error) { return obj.(*corev1.Pod).Finalizers, nil }
	eachIndexer(t, func(t *testing.T, x cache.Indexer) {
		require.NoError(t, x.AddIndexers(cache.Indexers{"1": finalizers, "2": byLabels, "3": finalizers}))
		p := kit.Pod("a", "1", kit.Label("app", "x"), func(p *corev1.Pod) { p.Finalizers = []string{"b", "b", "c"} })
		for range 2 {
			require.NoError(t, x.Update(p))
			require.Equal(t, []string{"b", "b", "c"}, p.Finalizers)
			require.ElementsMatch(t, []string{"b", "c"}, x.ListIndexFuncValues("3"))
		}
	})
}
