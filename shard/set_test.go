package shard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// cells is the slow twin of a Set: a ring of 64 cells, and which of them are in the set. Cell 32 is the wide
// middle of the ring, and all others are single hashes at its two ends.
type cells [64]bool

// at returns where a cell begins, and for 64 the end of the ring.
func at(cell int) uint64 {
	if cell <= 32 {
		return uint64(cell)
	}
	return math.MaxUint64 - 63 + uint64(cell)
}

// add adds the cells of a range.
func (c *cells) add(r Range) {
	for i := range c {
		first, last := at(i), at(i+1)-1
		if r.From <= first && (r.To == 0 || last < r.To) {
			c[i] = true
		}
	}
}

// ranges returns the longest runs of cells.
func (c *cells) ranges() (all []Range) {
	for i := range c {
		if c[i] && (i == 0 || !c[i-1]) {
			all = append(all, Range{From: at(i)})
		}
		if c[i] {
			all[len(all)-1].To = at(i + 1)
		}
	}
	return all
}

// someCells draws ranges of cells.
func someCells(r *rand.Rand) (ranges []Range, twin cells) {
	for range r.IntN(12) {
		from := r.IntN(64)
		drawn := Range{at(from), at(from + 1 + r.IntN(min(8, 64-from)))}
		ranges = append(ranges, drawn)
		twin.add(drawn)
	}
	if r.IntN(20) == 0 {
		ranges = append(ranges, Range{})
		twin.add(Range{})
	}
	return ranges, twin
}

func TestSetAgainstSingleHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var last Set
	var lastTwin cells
	for range 5000 {
		ranges, twin := someCells(r)
		s, err := Of(ByNamespace, ranges...)
		require.NoError(t, err)
		require.Equal(t, twin.ranges(), slices.Collect(s.Ranges()), "%v", ranges)
		held := 0.0
		for i, in := range twin {
			if first, last := s.contains(at(i)), s.contains(at(i+1)-1); first != in || last != in {
				t.Fatalf("%v: cell %d: %v, its first hash %v, its last %v", ranges, i, in, first, last)
			}
			if in {
				held += float64(at(i+1)-at(i)) / (1 << 64)
			}
		}
		require.InDelta(t, held, s.fraction(), 1e-15)
		require.Equal(t, twin == cells{}, s.empty())
		require.Equal(t, !slices.Contains(twin[:], false), s.isWhole())
		require.Equal(t, twin == lastTwin, s.Equal(last))
		again, err := Of(ByNamespace, slices.Concat(s.ranges, s.ranges)...)
		require.NoError(t, err)
		require.True(t, s.Equal(again))
		last, lastTwin = s, twin
	}
}

func TestOfKeepsTheCallersRanges(t *testing.T) {
	ranges := []Range{{8, 9}, {1, 8}}
	s, err := Of(ByUID, ranges...)
	require.NoError(t, err)
	ranges[1] = Range{}
	require.Equal(t, []Range{{1, 9}}, slices.Collect(s.Ranges()))
	require.Equal(t, []Range{{8, 9}, {}}, ranges)
}

func TestSharesOfNReplicas(t *testing.T) {
	for _, total := range []int{1, 2, 3, 4, 7, 1000, 1024} {
		var all []Range
		for i := range total {
			s, err := Nth(ByUID, i, total)
			require.NoError(t, err)
			ranges := slices.Collect(s.Ranges())
			require.Len(t, ranges, 1)
			all = append(all, ranges...)
			require.InDelta(t, 1/float64(total), s.fraction(), 1e-15)
		}
		require.Zero(t, all[0].From)
		require.Zero(t, all[total-1].To)
		for i := range total - 1 {
			require.Equal(t, all[i].To, all[i+1].From, "%d/%d", i, total)
			require.NotZero(t, all[i].To)
		}
	}
	first, err := Nth(ByUID, 0, math.MaxInt)
	require.NoError(t, err)
	require.Equal(t, []Range{{0, 2}}, slices.Collect(first.Ranges()))
	last, err := Nth(ByUID, math.MaxInt-1, math.MaxInt)
	require.NoError(t, err)
	require.False(t, last.empty())
}

func TestSetsOfEachField(t *testing.T) {
	uid, namespace := Hash("u"), Hash("n")
	byUID, err := Of(ByUID, Range{uid, uid + 1})
	require.NoError(t, err)
	require.True(t, byUID.Has("n", "u"))
	require.True(t, byUID.Has("", "u"))
	require.False(t, byUID.Has("u", "n"))
	byNamespace, err := Of(ByNamespace, Range{namespace, namespace + 1})
	require.NoError(t, err)
	require.True(t, byNamespace.Has("n", "u"))
	require.True(t, byNamespace.Has("n", ""))
	require.False(t, byNamespace.Has("u", "n"))

	require.Equal(t, ByUID, byUID.Field())
	require.Equal(t, ByNamespace, byNamespace.Field())
	require.False(t, Whole(ByUID).Equal(Whole(ByNamespace)))
	require.True(t, Whole(ByUID).Has("", ""))
	require.Equal(t, 1.0, Whole(ByUID).fraction())

	one, err := Of(ByUID, Range{0, 1})
	require.NoError(t, err)
	rest, err := Of(ByUID, Range{1, 0})
	require.NoError(t, err)
	require.Equal(t, 1.0/(1<<64), one.fraction())
	require.False(t, rest.isWhole())
}

// Who asks for nothing, or forgets to ask, gets nothing, and not everything.
func TestEmptySets(t *testing.T) {
	empty, err := Of(ByNamespace)
	require.NoError(t, err)
	for _, s := range []Set{{}, empty, Whole(0), Whole(7)} {
		require.True(t, s.empty())
		require.False(t, s.isWhole())
		require.False(t, s.Has("", ""))
		require.False(t, s.Has("n", "u"))
		require.Zero(t, s.fraction())
		require.NotEmpty(t, s.Selector())
	}
	require.Equal(t, Field(0), Whole(7).Field())
	require.False(t, empty.Equal(Set{}), "one has a field")
	require.True(t, Set{}.Equal(Whole(7)))
	require.Equal(t, "shardRange(object.metadata.namespace, '0x0000000000000000', '0x0000000000000001')", empty.Selector())
}

func TestWhatIsRefused(t *testing.T) {
	for _, f := range []Field{0, 3, 255} {
		_, err := Of(f, Range{})
		require.ErrorIs(t, err, ErrField)
		require.ErrorContains(t, err, fmt.Sprint(f))
		_, err = Nth(f, 0, 1)
		require.ErrorIs(t, err, ErrField)
	}
	for _, r := range []Range{{5, 5}, {6, 5}, {math.MaxUint64, 1}} {
		_, err := Of(ByUID, Range{1, 2}, r)
		require.ErrorIs(t, err, ErrRange)
		require.ErrorContains(t, err, fmt.Sprintf("[0x%016x, 0x%016x)", r.From, r.To))
	}
	for _, n := range [][2]int{{0, 0}, {-1, 1}, {1, 1}, {3, 2}, {0, -1}, {-2, -1}, {math.MinInt, math.MaxInt}} {
		_, err := Nth(ByUID, n[0], n[1])
		require.ErrorIs(t, err, ErrNth)
		require.ErrorContains(t, err, fmt.Sprintf("%d/%d", n[0], n[1]))
	}
}

func TestParseNth(t *testing.T) {
	for text, want := range map[string][2]int{"0/1": {0, 1}, "0/3": {0, 3}, "2/3": {2, 3}, "00/03": {0, 3}, "999/1000": {999, 1000}} {
		index, total, err := ParseNth(text)
		require.NoError(t, err, text)
		require.Equal(t, want, [2]int{index, total}, text)
	}
	for _, text := range []string{
		"", "/", "0", "0/", "/3", "3/3", "4/3", "0/0", "-1/3", "0/-3", "+0/3", "0/+3", "-0/3", " 0/3", "0/3 ", "0/3/4", "0x0/3", "1_0/30", "0.0/3", "a/b",
		"0/99999999999999999999", "٠/٣",
	} {
		_, _, err := ParseNth(text)
		require.ErrorIs(t, err, ErrNth, text)
		require.ErrorContains(t, err, fmt.Sprintf("%q", text))
	}
}

func TestString(t *testing.T) {
	third, err := Nth(ByUID, 1, 3)
	require.NoError(t, err)
	var many []Range
	for i := range uint64(10) {
		many = append(many, Range{2 * i, 2*i + 1})
	}
	much, err := Of(ByNamespace, many...)
	require.NoError(t, err)
	empty, err := Of(ByUID)
	require.NoError(t, err)
	for want, s := range map[string]Set{
		"uid: 33.3% of the ring, [0x5555555555555555, 0xaaaaaaaaaaaaaaaa)":       third,
		"namespace: 100% of the ring, [0x0000000000000000, 0x10000000000000000)": Whole(ByNamespace),
		"uid: nothing":      empty,
		"no field: nothing": {},
		"namespace: 5.42e-17% of the ring, [0x0000000000000000, 0x0000000000000001), [0x0000000000000002, 0x0000000000000003), " +
			"[0x0000000000000004, 0x0000000000000005), [0x0000000000000006, 0x0000000000000007) and 6 more": much,
	} {
		require.Equal(t, want, s.String())
	}
}

func TestStatic(t *testing.T) {
	third, err := Nth(ByUID, 1, 3)
	require.NoError(t, err)
	require.True(t, Static(third).Share().Equal(third))
}

func TestHasAllocatesNothing(t *testing.T) {
	var many []Range
	for i := range uint64(400) {
		many = append(many, Range{i << 50, i<<50 + 1<<49})
	}
	for _, f := range []Field{ByUID, ByNamespace} {
		s, err := Of(f, many...)
		require.NoError(t, err)
		namespace, uid := "some-namespace", types.UID("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
		require.Zero(t, testing.AllocsPerRun(100, func() { s.Has(namespace, uid) }))
	}
}
