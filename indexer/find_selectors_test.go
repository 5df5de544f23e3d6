package indexer

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
)

// While its lock is held, a store does not gather the lists of a label that nearly each object has another value of.
func TestASelectorForAnyOfVeryManyValues(t *testing.T) {
	all := findable(manyLists + 1)
	with := Query{Labels: parsed(t, "n")}
	for name, n := range map[string]int{"few": manyLists, "many": len(all)} {
		t.Run(name, func(t *testing.T) {
			w := findableStore(t, all[:n], func(o *Options) { o.LabelIndexes = []string{"n"} })
			searches, err := w.x.searches([]Query{with})
			require.NoError(t, err)
			require.Equal(t, n == manyLists, len(searches[0].terms) == 1)
			requirements, _ := requirementsOf(with.Labels)
			require.Equal(t, n == manyLists, w.x.plan("", requirements).index != nil)
			finds(t, items(w), all[:n], with)
			finds(t, items(w), all[:n], Query{Namespace: "a", Labels: with.Labels})
			require.Len(t, selected(w.Indexer(), "", requirement{key: "n", op: opExists}), n)
		})
	}
}

// listing is a codec that notes, for each object it decodes, of how long a list.
type listing struct {
	fakecodec.Codec
	lengths []int
}

func (c *listing) ForList(n int) func(any) any {
	return func(stored any) any {
		c.lengths = append(c.lengths, n)
		return c.Decode(stored)
	}
}

// What is found is decoded as a list of its own length, when it is read.
func TestWhatFindReturnsIsDecodedAsAListOfItsLength(t *testing.T) {
	unchecked(t)
	c := new(listing)
	w := findableStore(t, findable(40), func(o *Options) { o.Codec = c })
	c.Decoded()
	for _, moving := range []bool{false, true} {
		for _, queries := range asking(t) {
			w.x.live.Load().moving = moving
			s, err := items(w).Find(queries...)
			require.NoError(t, err)
			_, err = items(w).FindKeys(queries...)
			require.NoError(t, err)
			require.Zero(t, c.Decoded(), queries)
			c.lengths = nil
			require.Len(t, s.List(), s.Len())
			require.Equal(t, slices.Repeat([]int{s.Len()}, s.Len()), append([]int{}, c.lengths...), queries)
			require.Equal(t, s.Len(), c.Decoded())
		}
	}
}

// While a program's Matches runs, the store can be read and written. Whether it panics or ends its
// goroutine, the store stays whole.
func TestAForeignSelectorRunsUnderNoLock(t *testing.T) {
	w := findableStore(t, findable(20), func(*Options) {})
	calls := 0
	q := Query{Labels: calling{labels.Everything(), func() { calls++; usable(t, w) }}}
	s, err := items(w).Find(q, q)
	require.NoError(t, err)
	require.Equal(t, 20, s.Len())
	require.Equal(t, 40, calls)
	for _, end := range endings {
		aside(func() { _, _ = items(w).Find(Query{Labels: calling{labels.Everything(), end}}) })
		usable(t, w)
	}
}

// calling is a foreign selector that calls a function.
type calling struct {
	labels.Selector
	call func()
}

func (c calling) Matches(labels.Labels) bool { c.call(); return true }

// An index that is dropped after a query was translated makes Find translate it again.
func TestAnIndexIsDroppedWhileAQueryIsAnswered(t *testing.T) {
	all := findable(40)
	w := findableStore(t, all, func(*Options) {})
	x := items(w)
	q := Query{Labels: parsed(t, "odd"), Fields: map[string]string{"word": "low"}}
	for range asksToBuild {
		finds(t, x, all, q)
	}
	searches, err := x.searches([]Query{q})
	require.NoError(t, err)
	require.Len(t, searches[0].terms, 2)
	dropBuilt(w)
	_, ok := x.lookUp(searches, true)
	require.False(t, ok)
	finds(t, x, all, q)
}

// dropBuilt drops the label indexes that were built for selectors.
func dropBuilt(w *Writer) {
	w.x.writing.Lock()
	defer w.finish()

	live := w.x.live.Load()
	w.moveTo(w.emptyContents(slices.DeleteFunc(slices.Clone(live.indexes), func(ix *index) bool { return ix.built() }), live.all.len()))
}
