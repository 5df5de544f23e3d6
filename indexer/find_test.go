package indexer

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

func TestAQueryDescribesItself(t *testing.T) {
	web := labels.Set{"app": "web"}.AsSelector()
	for want, q := range map[string]Query{
		"everything":                       {},
		"in shop":                          {Namespace: "shop", Labels: labels.Everything()},
		"in shop with app=web and node=n1": {Namespace: "shop", Labels: web, Fields: map[string]string{"node": "n1"}},
		"with a=1 and b=":                  {Fields: map[string]string{"b": "", "a": "1"}},
		"with app in (a,b),!tier":          {Labels: parsed(t, "app in (b,a),!tier")},
		"nothing":                          {Namespace: "shop", Labels: labels.Nothing()},
	} {
		require.Equal(t, want, q.String())
	}
}

// selects is the slow twin of a query: it looks at the object alone.
func (q Query) selects(it *item) bool {
	for name, value := range q.Fields {
		switch {
		case name == NamespaceIndex && it.key.Namespace != value:
			return false
		case name != NamespaceIndex && (slices.Contains(it.words, "!") || !slices.Contains(it.words, value)):
			return false
		}
	}
	return (q.Namespace == "" || it.key.Namespace == q.Namespace) && (q.Labels == nil || q.Labels.Matches(labels.Set(it.labels)))
}

// found returns the items that any of the queries selects.
func found(all []*item, queries ...Query) (want []*item) {
	for _, it := range all {
		if slices.ContainsFunc(queries, func(q Query) bool { return q.selects(it) }) {
			want = append(want, it)
		}
	}
	return want
}

// finds compares Find and FindKeys with a filter over all items.
func finds(t *testing.T, x *Indexer[*item], all []*item, queries ...Query) {
	t.Helper()
	want := found(all, queries...)
	s, err := x.Find(queries...)
	require.NoError(t, err)
	require.Equal(t, len(want), s.Len(), "%v", queries)
	sameSet(t, want, s.List(), queries)
	var keys []Key
	for _, it := range want {
		keys = append(keys, it.key)
	}
	got, err := x.FindKeys(queries...)
	require.NoError(t, err)
	sameSet(t, keys, got, queries)
}

// asking are queries of all sorts for the items of findable.
func asking(t testing.TB) [][]Query {
	word := func(w string) map[string]string { return map[string]string{"word": w} }
	odd := labels.Set{"odd": "yes"}.AsSelector()
	return [][]Query{
		nil,
		{{}},
		{{}, {}},
		{{Labels: labels.Everything()}},
		{{Labels: labels.Nothing()}, {Fields: word("3")}},
		{{Labels: labels.Nothing(), Fields: word("all")}},
		{{Namespace: "a"}},
		{{Namespace: "none"}},
		{{Fields: word("all")}},
		{{Fields: word("none"), Labels: odd}},
		{{Namespace: "b", Fields: word("low")}},
		{{Namespace: "b", Fields: map[string]string{"word": "low", NamespaceIndex: "a"}}},
		{{Labels: odd}},
		{{Labels: odd, Fields: word("low")}},
		{{Namespace: "b", Labels: labels.Set{"third": "0"}.AsSelector()}},
		{{Namespace: "b", Labels: labels.Set{"third": "0", "odd": "yes"}.AsSelector(), Fields: word("low")}},
		{{Labels: parsed(t, "odd"), Fields: word("low")}},
		{{Labels: parsed(t, "odd"), Fields: word("6")}},
		{{Namespace: "b", Labels: parsed(t, "odd,third")}},
		{{Labels: parsed(t, "third in (0,2,0)")}},
		{{Labels: parsed(t, "third in (0,2)"), Fields: word("all")}},
		{{Labels: parsed(t, "third in (0,2),odd"), Fields: word("low")}},
		{{Labels: parsed(t, "third in (9)"), Fields: word("all")}},
		{{Labels: parsed(t, "n in ("+strings.Join(numbers(few+2), ",")+")"), Fields: word("low")}},
		{{Labels: parsed(t, "!odd"), Fields: word("low")}},
		{{Namespace: "b", Labels: parsed(t, "n>5,n<9")}},
		{{Labels: foreign{odd}, Fields: word("low")}},
		{{Fields: word("low")}, {Labels: odd}, {Namespace: "a", Fields: word("7")}, {Fields: word("low")}},
		{{Labels: parsed(t, "!odd")}, {}},
	}
}

// numbers returns the first numbers.
func numbers(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

// findable returns numbered items, in the namespaces a and b; the index by words leaves out each tenth.
func findable(n int) (all []*item) {
	for i := range n {
		it := numberedItem(i)
		it.labels["third"], it.labels["size"] = fmt.Sprint(i%3), fmt.Sprint(i%20)
		if i%10 < 6 {
			it.words = append(it.words, "low")
		}
		if i%10 == 9 {
			it.words = append(it.words, "!")
		}
		all = append(all, it)
	}
	return all
}

// findableStore returns a store of items with some indexes.
func findableStore(t testing.TB, all []*item, change func(*Options)) *Writer {
	o := itemOptions()
	change(&o)
	w, err := New(o)
	require.NoError(t, err)
	update(w, func(tx *Tx) {
		for _, it := range all {
			tx.Put(0, it.key, it, 0)
		}
		tx.SetVersion("7")
	})
	return w
}

// Find and FindKeys equal a filter over all objects: of few candidates and of many, with and without a
// codec, with indexes of labels and without any, and while the postings belong to the writer.
func TestContract_D37_FindSelectsWhatAFilterSelects(t *testing.T) {
	tier.SkipRaced(t)
	for name, change := range map[string]func(*Options){
		"plain":                    func(*Options) {},
		"with label indexes":       func(o *Options) { o.LabelIndexes = []string{"odd", "third", "n"} },
		"with a codec":             func(o *Options) { o.Codec = new(fakecodec.Codec) },
		"with a namespace's index": func(o *Options) { o.Indexes[0] = Index[any]{Name: NamespaceIndex, ByNamespace: true} },
		"without that":             func(o *Options) { o.Indexes[0].Name = "another" },
	} {
		for _, n := range []int{0, 40, 2 * maxWalked} {
			for _, moving := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " of ", n, " moving ", moving), func(t *testing.T) {
					all := findable(n)
					w := findableStore(t, all, change)
					for range asksToBuild + 1 { // with the last of them there are label indexes
						for _, queries := range asking(t) {
							if name == "without that" {
								queries = slices.DeleteFunc(slices.Clone(queries), func(q Query) bool { return q.Fields[NamespaceIndex] != "" })
							}
							w.x.live.Load().moving = moving
							finds(t, items(w), all, queries...)
						}
					}
				})
			}
		}
	}
}

// However many queries there are, Find reads the postings of a bounded number of objects under its lock.
func TestFindOfVeryManyQueries(t *testing.T) {
	all := findable(2 * maxWalked)
	w := findableStore(t, all, func(*Options) {})
	one := Query{Namespace: "a", Fields: map[string]string{"word": "low"}}
	queries := slices.Repeat([]Query{one}, 3*maxWalkedByAll/maxWalked)
	searches, err := w.x.searches(queries)
	require.NoError(t, err)
	_, ok := w.x.lookUp(searches, false)
	require.True(t, ok)
	walked := slices.IndexFunc(searches, func(s search) bool { return len(s.others) > 0 })
	require.Equal(t, maxWalkedByAll/maxWalked, walked)
	finds(t, items(w), all, queries...)
}

// Under its lock Find walks through a short list alone, and compares that with a few others.
func TestFindWalksThroughShortLists(t *testing.T) {
	word := func(w string) map[string]string { return map[string]string{"word": w} }
	among := func(n int) labels.Selector { return parsed(t, "n in ("+strings.Join(numbers(n), ",")+")") }
	for name, row := range map[string]struct {
		objects int
		q       Query
		walked  bool
	}{
		"a short list":          {2 * maxWalked, Query{Namespace: "a", Fields: word("all")}, true},
		"a long one":            {2*maxWalked + 2, Query{Namespace: "a", Fields: word("all")}, false},
		"beside a few others":   {2 * few, Query{Labels: among(few), Fields: word("7")}, true},
		"beside too many lists": {2 * few, Query{Labels: among(few + 1), Fields: word("7")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			all := findable(row.objects)
			w := findableStore(t, all, func(o *Options) { o.LabelIndexes = []string{"n"} })
			searches, err := w.x.searches([]Query{row.q})
			require.NoError(t, err)
			_, ok := w.x.lookUp(searches, true)
			require.True(t, ok)
			require.Equal(t, row.walked, len(searches[0].others) == 0)
			finds(t, items(w), all, row.q)
		})
	}
}

// A key that is found keeps no names of other objects in memory.
func TestKeysThatAreFoundKeepNoOthers(t *testing.T) {
	var all []*item
	for i := range 16 << 10 {
		it := &item{key: Key{"a", fmt.Sprintf("%0100d", i)}, words: []string{"all"}, labels: map[string]string{}}
		if i%chunkSize == 0 {
			it.labels["first"] = "yes"
		}
		all = append(all, it)
	}
	w := findableStore(t, all, func(*Options) {})
	before := process.Heap()
	keys, err := w.Indexer().FindKeys(Query{Labels: parsed(t, "first"), Fields: map[string]string{"word": "all"}})
	require.NoError(t, err)
	require.Len(t, keys, len(all)/chunkSize)
	require.Less(t, process.Heap()-before, uint64(400<<10), "all names have 1,600 kB")
	runtime.KeepAlive(keys)
	runtime.KeepAlive(w)
}

func TestFindOfAnUnknownIndex(t *testing.T) {
	w, x := newItems(t, 1)
	queries := []Query{{}, {Labels: labels.Nothing(), Fields: map[string]string{"word": "x", "unknown": "x"}}}
	_, err := x.Find(queries...)
	require.ErrorIs(t, err, ErrUnknownIndex)
	require.EqualError(t, err, `no index with this name: "unknown"`)
	_, err = x.FindKeys(queries...)
	require.ErrorIs(t, err, ErrUnknownIndex)
	usable(t, w)
}

// The answer is a Snapshot of its moment, with the version. If one list is the answer, nothing is copied.
func TestWhatFindReturnsIsASnapshot(t *testing.T) {
	all := findable(4 * chunkSize)
	w := findableStore(t, all, func(*Options) {})
	x := items(w)
	some := Query{Namespace: "a", Labels: parsed(t, "third!=1")}
	s, err := x.Find(some)
	require.NoError(t, err)
	none, err := x.Find()
	require.NoError(t, err)
	require.Zero(t, none.Len())
	require.Equal(t, []string{"7", "7"}, []string{s.Version(), none.Version()})
	want := found(all, some)
	require.Greater(t, len(want), chunkSize)
	for i, it := range s.List() {
		require.Same(t, it, s.At(i))
	}
	update(w, func(tx *Tx) {
		for _, it := range all {
			tx.Delete(it.key)
		}
		tx.SetVersion("8")
	})
	sameSet(t, want, s.List())
	finds(t, x, nil, some)

	w = findableStore(t, all, func(*Options) {})
	for index, q := range map[string]Query{NamespaceIndex: {Namespace: "a"}, "word": {Fields: map[string]string{"word": "all"}}} {
		one, err := w.Indexer().Find(q)
		require.NoError(t, err)
		same, err := w.Indexer().Lookup(index, map[string]string{NamespaceIndex: "a", "word": "all"}[index])
		require.NoError(t, err)
		require.Equal(t, same, one)
		require.Same(t, &same.chunks[0], &one.chunks[0])
	}
}

// Find decodes nothing, and its list only what is read. FindKeys decodes nothing.
func TestFindDecodesNothing(t *testing.T) {
	w, _, decoded := encodedItems(t)
	decoded(10, "for the indexes")
	x := items(w)
	for _, text := range []string{"odd", "odd=yes", "odd=yes,n>4", "odd=yes,n!=3", "!odd"} {
		q := Query{Labels: parsed(t, text), Fields: map[string]string{"word": "all"}}
		s, err := x.Find(q)
		require.NoError(t, err)
		decoded(0, text)
		require.Len(t, s.List(), s.Len())
		decoded(s.Len(), text)
		_, err = x.FindKeys(q, Query{Namespace: "b"})
		require.NoError(t, err)
		decoded(0, text)
	}
}

// Objects of several types, nil and equal values are found too.
func TestFindInAStoreOfAnything(t *testing.T) {
	o := Options{
		Indexes: []Index[any]{
			{Name: NamespaceIndex, ByNamespace: true},
			{Name: "type", Append: func(values []string, obj any) []string { return append(values, fmt.Sprintf("%T", obj)) }},
		},
	}
	w, err := New(o)
	require.NoError(t, err)
	update(w, func(tx *Tx) {
		for i, obj := range []any{nil, (*item)(nil), new(item), 7, "seven", struct{}{}} {
			tx.Put(0, Key{"a", fmt.Sprint(i)}, obj, 0)
			tx.Put(0, Key{"b", fmt.Sprint(i)}, new(item), 0)
			tx.Put(0, Key{"c", fmt.Sprint(i)}, uint16(i), 0) // Go keeps small numbers of all types in one place
			tx.Put(0, Key{"d", fmt.Sprint(i)}, uint32(i), 0)
		}
		tx.Put(0, Key{"a", "6"}, true, 0)
		for i := range 10 {
			tx.Put(0, Key{"b", fmt.Sprint("same", i)}, true, 0)
		}
	})
	for _, moving := range []bool{false, true} {
		w.x.live.Load().moving = moving
		for typ, want := range map[string]string{"<nil>": "0", "*indexer.item": "1 2", "int": "3", "string": "4", "struct {}": "5", "bool": "6"} {
			q := Query{Namespace: "a", Fields: map[string]string{"type": typ}}
			keys, err := w.Indexer().FindKeys(q)
			require.NoError(t, err)
			var names []string
			for _, key := range keys {
				names = append(names, key.Name)
			}
			slices.Sort(names)
			require.Equal(t, want, strings.Join(names, " "), "%v of moving %v", typ, moving)
			s, err := View[*item](w.Indexer()).Find(q)
			require.NoError(t, err)
			require.Equal(t, len(names), s.Len())
			require.Equal(t, typ == "*indexer.item", len(s.List()) > 0)
		}
		none, err := w.Indexer().FindKeys(Query{Namespace: "c", Fields: map[string]string{"type": "uint32"}})
		require.NoError(t, err)
		require.Empty(t, none)
		both, err := w.Indexer().Find(Query{Namespace: "c"}, Query{Namespace: "d"})
		require.NoError(t, err)
		require.Equal(t, 12, both.Len())
	}
}
