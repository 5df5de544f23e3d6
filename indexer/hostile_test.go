package indexer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// tagged is an object with labels and index values.
type tagged struct {
	labels map[string]string
	values []string
}

func newTagged(t *testing.T, report func(*IndexError)) *Writer {
	w, err := New(Options{
		Labels:  func(obj any) map[string]string { return obj.(tagged).labels },
		Indexes: untyped(Index[tagged]{Name: "values", Append: func(values []string, o tagged) []string { return append(values, o.values...) }}),
		Report:  report,
	})
	require.NoError(t, err)
	return w
}

func (w *Writer) lists(f family) (n int) {
	for _, ix := range w.x.live.Load().indexes {
		if ix.family == f {
			n += ix.values.live
		}
	}
	return n
}

// unchecked switches the store's self-check off. The check is slow for an object with very many
// index values, and decodes encoded objects.
func unchecked(t *testing.T) {
	on := verify.On
	verify.On = false
	t.Cleanup(func() { verify.On = on })
}

// The index of a label with a different value in each object never has more than tooManyFrom lists,
// or one list for every two objects, and has none in the end.
func TestALabelBomb(t *testing.T) {
	unchecked(t)
	w := newTagged(t, nil)
	const objects = 20_000
	exists := requirement{key: "k", op: opExists}
	for range asksToBuild {
		require.Empty(t, selected(w.Indexer(), "", exists))
	}
	most := 0
	for i := range objects {
		update(w, func(tx *Tx) {
			tx.Put(0, Key{Name: fmt.Sprint(i)}, tagged{labels: map[string]string{"k": fmt.Sprint(i)}}, 0)
		})
		lists := w.lists(byLabel)
		most = max(most, lists)
		require.LessOrEqual(t, lists, max(tooManyFrom, w.Indexer().Len()/2))
	}
	require.Equal(t, tooManyFrom, most)
	require.Zero(t, w.lists(byLabel))
	require.Len(t, selected(w.Indexer(), "", exists), objects, "by a look at all of them")
}

// A label that no selector requires costs nothing. At most maxLabelIndexes keys have indexes,
// however many keys selectors require.
func TestAFloodOfLabelKeys(t *testing.T) {
	w := newTagged(t, nil)
	labels := make(map[string]string)
	for i := range 100_000 {
		labels[fmt.Sprint(i)] = "x"
	}
	update(w, func(tx *Tx) { tx.Put(0, Key{Name: "a"}, tagged{labels: labels}, 0) })
	require.Zero(t, w.lists(byLabel))
	for i := range 1000 {
		for range asksToBuild {
			require.Len(t, selected(w.Indexer(), "", requirement{key: fmt.Sprint(i), op: opExists}), 1)
		}
	}
	require.LessOrEqual(t, w.lists(byLabel), maxLabelIndexes)
	require.LessOrEqual(t, len(w.x.live.Load().indexes), maxLabelIndexes+1)
}

// The cost of an object's index values grows linearly with their number. Quadratic growth would
// take many minutes here.
func TestAnObjectWithVeryManyIndexValues(t *testing.T) {
	tier.SkipRaced(t)
	unchecked(t)
	w := newTagged(t, nil)
	const n = 50_000
	values := func(from int) (v []string) {
		for i := range n {
			v = append(v, fmt.Sprint(from+i), fmt.Sprint(from+i)) // each twice
		}
		return v
	}
	put := func(v []string) { update(w, func(tx *Tx) { tx.Put(0, Key{Name: "a"}, tagged{values: v}, 0) }) }
	put(values(0))
	require.Equal(t, n, w.lists(named))
	put(values(n / 2))
	require.Equal(t, n, w.lists(named))
	reversed := values(n / 2)
	slices.Reverse(reversed)
	put(reversed)
	require.Equal(t, n, w.lists(named))
	for value, want := range map[int]int{0: 0, n / 2: 1, n/2 + n - 1: 1, n/2 + n: 0} {
		s, err := w.Indexer().Lookup("values", fmt.Sprint(value))
		require.NoError(t, err)
		require.Equal(t, want, s.Len(), value)
	}
	update(w, func(tx *Tx) { tx.Delete(Key{Name: "a"}) })
	require.Zero(t, w.lists(named))
}

// So does the cost of deleting an object: in each of its lists, the other object moves into the gap
// and must learn its new position.
func TestDeletingOneOfTwoObjectsWithVeryManyIndexValues(t *testing.T) {
	tier.SkipRaced(t)
	unchecked(t)
	w := newTagged(t, nil)
	const n = 200_000
	var values []string
	for i := range n {
		values = append(values, fmt.Sprint(i))
	}
	for _, name := range []string{"a", "b"} {
		update(w, func(tx *Tx) { tx.Put(0, Key{Name: name}, tagged{values: values}, 0) })
	}
	update(w, func(tx *Tx) { tx.Delete(Key{Name: "a"}) })
	require.Equal(t, n, w.lists(named))
	update(w, func(tx *Tx) { tx.Delete(Key{Name: "b"}) })
	require.Zero(t, w.lists(named))
}

// The code for many index values has the same results as a slow, simple version.
func TestManyIndexValuesAgainstFew(t *testing.T) {
	for n := range 3 * few {
		w := newTagged(t, nil)
		for _, step := range []int{0, 1, 7, -3, 0} {
			var v []string
			for i := range n {
				v = append(v, fmt.Sprint(i*(step+1)%(few+5)))
			}
			update(w, func(tx *Tx) { tx.Put(0, Key{Name: "a"}, tagged{values: v}, 0) }) // which checks itself
			slices.Sort(v)
			got, err := w.Indexer().Values("values")
			require.NoError(t, err)
			require.ElementsMatch(t, slices.Compact(v), got)
		}
	}
}

// Objects with many values in some of several indexes come, change and go, under the store's own
// check.
func TestManyIndexValuesInSeveralIndexes(t *testing.T) {
	counted := func(name string, most int) Index[any] {
		return Index[any]{Name: name, Append: func(values []string, obj any) []string {
			for i := range obj.(int) % most {
				values = append(values, fmt.Sprint(i*7%most))
			}
			return values
		}}
	}
	w, err := New(Options{Indexes: []Index[any]{counted("many", 3*few), counted("one", 2), counted("some", few), counted("more", 2*few)}})
	require.NoError(t, err)
	for n := range 400 {
		key := Key{Name: fmt.Sprint(n * n % 7)}
		update(w, func(tx *Tx) {
			if n%5 == 4 {
				tx.Delete(key)
			} else {
				tx.Put(0, key, n*31, 0)
			}
		})
		if n%100 == 50 {
			require.NoError(t, w.AddIndexes(counted(fmt.Sprint("late", n), 2*few)))
		}
	}
}

// An error text does not quote a name of megabytes.
func TestALongNameInAnIndexError(t *testing.T) {
	var recorded *IndexError
	long := strings.Repeat("x", 2<<20)
	w, err := New(Options{
		Indexes: []Index[any]{{Name: "bad", Append: func([]string, any) []string { panic(long) }}},
		Report:  func(e *IndexError) { recorded = e },
	})
	require.NoError(t, err)
	update(w, func(tx *Tx) { tx.Put(0, Key{Name: long}, tagged{}, 0) })
	require.Equal(t, long, recorded.Key.Name)
	require.Less(t, len(recorded.Error()), 2*maxText+100)
}
