package informer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// storeTwins are a store of this module and a store of client-go, which must give the same answers.
type storeTwins struct {
	t            *testing.T
	rand         *rand.Rand
	ours, theirs cache.Indexer
	serial       int
}

// wholeKey is a key function whose keys do not have client-go's form, and may be any string.
func wholeKey(obj any) (string, error) {
	if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return lost.Key, nil
	}
	if p, ok := obj.(*corev1.Pod); ok {
		return p.Namespace + p.Name, nil
	}
	return "", rig.ErrPoison
}

func newStoreTwins(t *testing.T, r *rand.Rand) *storeTwins {
	key := []cache.KeyFunc{wholeKey, cache.MetaNamespaceKeyFunc, cache.DeletionHandlingMetaNamespaceKeyFunc}[r.IntN(3)]
	return &storeTwins{t: t, rand: r, ours: informer.NewIndexerWithOptions(key, cache.Indexers{}, informer.StoreOptions{}), theirs: cache.NewIndexer(key, cache.Indexers{})}
}

// byWords is an index function that returns several values, some of them twice.
func byWords(obj any) ([]string, error) {
	var words []string
	for key, value := range obj.(*corev1.Pod).Labels {
		words = append(words, key, value)
	}
	return words, nil
}

func (w *storeTwins) object() any {
	w.serial++
	p := kit.Pod([]string{"", "/", "a", "a/b", "b", "c"}[w.rand.IntN(6)], fmt.Sprint(w.serial))
	p.Namespace = []string{"", "n", "m"}[w.rand.IntN(3)]
	for range w.rand.IntN(3) {
		kit.Label([]string{"x", "y"}[w.rand.IntN(2)], []string{"x", "z", ""}[w.rand.IntN(3)])(p)
	}
	return p
}

func (w *storeTwins) step() {
	switch w.rand.IntN(9) {
	case 0, 1, 2:
		obj := w.object()
		w.both(func(x cache.Indexer) any { return x.Add(obj) })
	case 3:
		obj := w.object()
		w.both(func(x cache.Indexer) any { return x.Update(obj) })
	case 4:
		obj := w.object()
		w.both(func(x cache.Indexer) any { return x.Delete(obj) })
	case 5:
		var list []any
		for range w.rand.IntN(6) {
			list = append(list, w.object())
		}
		w.both(func(x cache.Indexer) any { return x.Replace(list, fmt.Sprint(w.serial)) })
	case 6:
		w.transaction()
	case 7:
		ix := cache.Indexers{[]string{"word", cache.NamespaceIndex}[w.rand.IntN(2)]: byWords}
		if _, ok := ix[cache.NamespaceIndex]; ok {
			ix[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
		}
		ours, theirs := w.ours.AddIndexers(ix), w.theirs.AddIndexers(ix)
		require.Equal(w.t, theirs == nil, ours == nil)
	case 8:
		w.refuse()
	}
}

// both makes a call on both stores and requires equal results.
func (w *storeTwins) both(do func(cache.Indexer) any) {
	require.Equal(w.t, do(w.theirs), do(w.ours))
}

func (w *storeTwins) transaction() {
	var txns []cache.Transaction
	for range w.rand.IntN(5) {
		kind := []cache.TransactionType{cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete}[w.rand.IntN(3)]
		txns = append(txns, cache.Transaction{Object: w.object(), Type: kind})
	}
	for _, x := range []cache.Indexer{w.theirs, w.ours} {
		require.Nil(w.t, x.(cache.TransactionStore).Transaction(txns...))
	}
}

// refuse makes both stores refuse objects without a key.
func (w *storeTwins) refuse() {
	for _, do := range []func(cache.Indexer) error{
		func(x cache.Indexer) error { return x.Add(1) },
		func(x cache.Indexer) error { return x.Update(1) },
		func(x cache.Indexer) error { return x.Delete(1) },
		func(x cache.Indexer) error { return x.Replace([]any{w.object(), 1}, "9") },
	} {
		w.both(func(x cache.Indexer) any { return do(x).Error() })
	}
}

// compare requires that both stores answer all reads alike.
func (w *storeTwins) compare() {
	t := w.t
	require.ElementsMatch(t, w.theirs.List(), w.ours.List())
	require.ElementsMatch(t, w.theirs.ListKeys(), w.ours.ListKeys())
	for _, key := range append(w.theirs.ListKeys(), "none") {
		want, had, err := w.theirs.GetByKey(key)
		require.NoError(t, err)
		got, has, err := w.ours.GetByKey(key)
		require.NoError(t, err)
		require.Equal(t, had, has)
		require.True(t, want == got, "%q: %v instead of %v", key, got, want)
	}
	probe := w.object()
	for _, name := range []string{"word", cache.NamespaceIndex, "none"} {
		w.compareIndex(name, probe)
	}
	require.Len(t, w.ours.GetIndexers(), len(w.theirs.GetIndexers()))
}

func (w *storeTwins) compareIndex(name string, probe any) {
	t := w.t
	require.ElementsMatch(t, w.theirs.ListIndexFuncValues(name), w.ours.ListIndexFuncValues(name))
	want, wrong := w.theirs.Index(name, probe)
	got, err := w.ours.Index(name, probe)
	require.Equal(t, wrong == nil, err == nil)
	require.ElementsMatch(t, want, got)
	for _, value := range []string{"x", "z", "", "n", "none"} {
		want, wrong := w.theirs.ByIndex(name, value)
		got, err := w.ours.ByIndex(name, value)
		require.Equal(t, wrong == nil, err == nil)
		require.ElementsMatch(t, want, got)
		keys, wrong := w.theirs.IndexKeys(name, value)
		ours, err := w.ours.IndexKeys(name, value)
		require.Equal(t, wrong == nil, err == nil)
		slices.Sort(keys)
		slices.Sort(ours)
		require.Equal(t, len(keys), len(ours))
		require.ElementsMatch(t, keys, ours)
	}
}

func FuzzStore(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		for w := newStoreTwins(t, r); more(); {
			w.step()
			w.compare()
		}
	})
}
