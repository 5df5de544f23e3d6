package indexer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// item is the object of these tests.
type item struct {
	key    Key
	serial int
	labels map[string]string
	words  []string // the values of the index "word"; "!" fails
}

func words(values []string, it *item) []string {
	if slices.Contains(it.words, "!") {
		panic("poisoned")
	}
	return append(values, it.words...)
}

func namespaces(values []string, it *item) []string { return append(values, it.key.Namespace) }

func itemOptions() Options {
	return Options{
		Indexes: untyped(
			Index[*item]{Name: NamespaceIndex, Append: namespaces},
			Index[*item]{Name: "word", Append: words},
		),
		Labels:    fakecodec.Reading(func(obj any) map[string]string { return obj.(*item).labels }),
		Namespace: fakecodec.Reading(func(obj any) string { return obj.(*item).key.Namespace }),
	}
}

// untyped returns indexes as a store takes them.
func untyped[T any](indexes ...Index[T]) []Index[any] {
	var all []Index[any]
	for _, ix := range indexes {
		all = append(all, ix.Untyped())
	}
	return all
}

// items returns a store's view of items.
func items(w *Writer) *Indexer[*item] { return View[*item](w.Indexer()) }

// asItem returns a stored object as an item, nil for none.
func asItem(obj any) *item {
	it, _ := obj.(*item)
	return it
}

// model is the slow, obvious twin of an indexer: a map.
type model map[Key]*item

func (m model) by(index, value string) (found []*item) {
	for _, it := range m {
		values := []string{it.key.Namespace}
		if index == "word" {
			values = it.words
		}
		if !slices.Contains(values, "!") && slices.Contains(values, value) {
			found = append(found, it)
		}
	}
	return found
}

// either returns the objects under one word or the other, each once.
func (m model) either(one, other string) []*item {
	found := m.by("word", one)
	for _, it := range m.by("word", other) {
		if !slices.Contains(found, it) {
			found = append(found, it)
		}
	}
	return found
}

func (m model) sel(namespace string, rs []requirement) (found []*item) {
next:
	for _, it := range m {
		if namespace != "" && it.key.Namespace != namespace {
			continue
		}
		for i := range rs {
			if !rs[i].matches(it.labels) {
				continue next
			}
		}
		found = append(found, it)
	}
	return found
}

// sameSet is require.ElementsMatch in linear time.
func sameSet[E comparable](t *testing.T, want, got []E, msg ...any) {
	t.Helper()
	count := make(map[E]int)
	for _, e := range want {
		count[e]++
	}
	for _, e := range got {
		count[e]--
	}
	for e, n := range count {
		if n != 0 {
			require.Zero(t, n, "%v %v", e, msg)
		}
	}
}

func TestIndexerAgainstItsTwin(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d := newWorld(t, seeded(seed))
			for range 120 {
				d.step()
				d.compare()
			}
		})
	}
}

// A store with encoded objects behaves like its twin, too.
func TestAnEncodedIndexerAgainstItsTwin(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			o := itemOptions()
			o.Codec = new(fakecodec.Codec)
			d := worldOf(t, seeded(seed), o)
			for range 120 {
				d.step()
				d.compare()
			}
		})
	}
}

// A full state with more than rebuildAbove changes, which is built aside, behaves like the twin.
func TestLargeFullStatesAgainstTheTwin(t *testing.T) {
	tier.SkipRaced(t)
	d := newWorld(t, seeded(7))
	for round := range 3 {
		f := &fullState{Staging: d.w.Stage(0), put: model{}, kept: map[Key]bool{}}
		for i := range rebuildAbove + 1000*round {
			key := Key{d.pick("a", "b"), fmt.Sprint("m", i)}
			if stored, ok := d.m[key]; ok && d.rand.IntN(4) == 0 && f.Keep(key, nil) {
				f.put[key], f.kept[key] = stored, true
				continue
			}
			f.put[key] = d.item(key)
			f.Put(key, f.put[key], 0)
			if d.rand.IntN(100) == 0 {
				d.take(1, key)
			}
		}
		d.freeze()
		d.query()
		d.commit(f.Staging, d.after(f))
		d.compare()
		for range 3 {
			d.update()
			d.query()
		}
		d.compare()
	}
}

func TestSelectorsInANamespaceStartFromItsOwnLists(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	update(w, func(tx *Tx) {
		for i := range 100 {
			key := Key{fmt.Sprint("ns", i%10), fmt.Sprint(i)}
			tx.Put(0, key, &item{key: key, labels: map[string]string{"app": fmt.Sprint("app", i/20)}}, 0)
		}
	})
	x := w.Indexer()
	app := []requirement{{key: "app", op: opIn, values: []string{"app1", "app3"}}}
	for range asksToBuild {
		require.Len(t, selected(x, "ns7", app...), 4)
	}
	best := x.plan("ns7", app)
	require.Equal(t, byLabelIn, best.index.family)
	require.Equal(t, 4, best.size, "the shortest lists hold what is looked for and no more")
	require.True(t, best.namespaced())
	require.False(t, new(plan).namespaced(), "the list of all holds all namespaces")
}

func TestAddIndexes(t *testing.T) {
	d := newWorld(t, seeded(3))
	for range 30 {
		d.update()
	}
	upper := Index[*item]{Name: "upper", Append: func(values []string, it *item) []string {
		for _, word := range it.words {
			values = append(values, strings.ToUpper(word))
		}
		return values
	}}
	require.ErrorIs(t, d.w.AddIndexes(untyped(upper, Index[*item]{Name: "word", Append: words})...), ErrIndexExists)
	require.ErrorIs(t, d.w.AddIndexes(Index[any]{Name: "x"}), ErrIndexInvalid)
	_, err := d.x.Lookup("upper", "RED")
	require.ErrorIs(t, err, ErrUnknownIndex, "all or none")
	_, err = d.x.Values("upper")
	require.ErrorIs(t, err, ErrUnknownIndex)
	_, err = d.x.keysBy("upper", "RED")
	require.ErrorIs(t, err, ErrUnknownIndex)
	_, err = union(d.x, "upper", "RED")
	require.ErrorIs(t, err, ErrUnknownIndex)
	require.PanicsWithError(t, err.Error(), func() { _ = slices.Collect(d.x.By("upper", "RED")) })

	require.NoError(t, d.w.AddIndexes(upper.Untyped()))
	for range 30 {
		d.update()
		d.compare()
	}
	found, err := d.x.Lookup("upper", "RED")
	require.NoError(t, err)
	want := 0
	for _, it := range d.m {
		if slices.Contains(it.words, "red") {
			want++
		}
	}
	require.Equal(t, want, found.Len())
	require.Equal(t, []string{NamespaceIndex, "word", "upper"}, d.x.Indexes())
}

// update runs a write section.
func update(w *Writer, section func(tx *Tx)) {
	tx := w.Begin()
	defer tx.Commit()
	section(tx)
}

// set stores an object by hand. A stored key stays in its source.
func set(tx *Tx, key Key, obj any) {
	stored, _ := tx.Get(key)
	tx.Put(stored.Source, key, obj, 0)
}
