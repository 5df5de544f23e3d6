package indexer

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizesCountValuesAndEntries(t *testing.T) {
	o := itemOptions()
	o.Indexes = []Index[any]{
		{Name: "both", Append: func(values []string, obj any) []string { return append(values, obj.(*item).key.Name, "all") }},
		{Name: NamespaceIndex, ByNamespace: true},
	}
	o.LabelIndexes = []string{"app"}
	w, err := New(o)
	require.NoError(t, err)
	x := w.Indexer()
	require.Equal(t, []IndexSize{{Name: "both"}, {Name: NamespaceIndex}}, x.IndexSizes())
	update(w, withLabels(10, func(i int) map[string]string { return map[string]string{"app": fmt.Sprint(i % 2)} }))
	require.Equal(t, []IndexSize{{Name: "both", Values: 11, Entries: 20}, {Name: NamespaceIndex, Values: 1, Entries: 10}}, x.IndexSizes())
	require.Equal(t, []IndexSize{{Name: "app", Values: 2, Entries: 10}}, x.LabelIndexSizes())
	ask(x, "a", "app")
	require.Equal(t, IndexSize{Name: "app", Namespaced: true, Values: 2, Entries: 10}, x.LabelIndexSizes()[1])
	update(w, func(tx *Tx) {
		for i := range 9 {
			tx.Delete(Key{"a", fmt.Sprint(i)})
		}
	})
	require.Equal(t, []IndexSize{{Name: "both", Values: 2, Entries: 2}, {Name: NamespaceIndex, Values: 1, Entries: 1}}, x.IndexSizes())
}

func TestADroppedLabelIndexHasNoSize(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	x := w.Indexer()
	update(w, withLabels(1, func(int) map[string]string { return map[string]string{"id": "x"} }))
	ask(x, "", "id")
	require.Len(t, x.LabelIndexSizes(), 1)
	update(w, withLabels(2*tooManyFrom, func(i int) map[string]string { return map[string]string{"id": fmt.Sprint(i)} }))
	require.Equal(t, 1, crowded(x))
	require.Empty(t, x.LabelIndexSizes())
}

// Sizes are counted in the midst of a write section, and while others write.
func TestSizesWaitForNoWriter(t *testing.T) {
	o := itemOptions()
	w, err := New(o)
	require.NoError(t, err)
	tx := w.Begin()
	w.Indexer().IndexSizes()
	w.Indexer().LabelIndexSizes()
	tx.Commit()
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := range 20 {
			update(w, withLabels(200*n, func(int) map[string]string { return nil }))
		}
	})
	for range 100 {
		for _, s := range w.Indexer().IndexSizes() {
			require.LessOrEqual(t, s.Values, 200*20)
		}
	}
	writing.Wait()
}

// A scan that stops at every object leaves none out where it continues.
func TestScanLeavesNoneOutWhereItStops(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	update(w, withLabels(1000, func(int) map[string]string { return nil }))
	met := make(map[any]bool)
	stop := func(obj any) bool { met[obj] = true; return false }
	for place := w.Scan(0, stop); place != 0; {
		place = w.Scan(place, stop)
	}
	require.Len(t, met, 1000)
}
