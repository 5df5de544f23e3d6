package fences

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// nothing is a store that holds nothing.
func nothing(indexer.Key) Cell { return Cell{} }

func key(i int) indexer.Key { return indexer.Key{Namespace: "default", Name: fmt.Sprint(i)} }

// keep sets a fence ahead at a version.
func keep(t testing.TB, f *Fences, key indexer.Key, version string) {
	verdict, result := f.Answered(ownwrites.Answer{Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{Key: key, UID: "u", Version: version}, Object: key}, Cell{}, "1", false, noon)
	require.Equal(t, [2]any{Show, Shown}, [2]any{verdict, result})
}

// kill sets a dead fence, of an object whose newest known version is 5.
func kill(t testing.TB, f *Fences, key indexer.Key, now time.Time) {
	verdict, result := f.Answered(ownwrites.Answer{Kind: ownwrites.Undated, Identity: object.Identity{Key: key, UID: "u"}}, stored("u", "5"), "5", false, now)
	require.Equal(t, [2]any{Remove, Shown}, [2]any{verdict, result})
}

func stored(uid, version string) Cell {
	return Cell{Identity: object.Identity{UID: uid, Version: version}, Object: uid + " at " + version, Stamp: 7}
}

func TestTheZeroValueHasNoFences(t *testing.T) {
	var f Fences
	require.False(t, f.Has(key(1)))
	require.Zero(t, f.Len())
	require.Empty(t, slices.Collect(f.All()))
	require.Equal(t, Apply, f.Event(object.Identity{Key: key(1)}, Cell{}, Cell{}, false))
	require.Equal(t, Apply, f.Listed(key(1), Cell{}, Cell{}, "7", false))
	require.Equal(t, Apply, f.Failed(key(1), "7"))
	f.Reached("7", noon, nothing, nil)
	require.NoError(t, f.check())
	var none *Fences
	require.Zero(t, none.Len())
	require.Empty(t, slices.Collect(none.All()))
}

func TestAnswersBeyondTheHighestNumberOfFences(t *testing.T) {
	var f Fences
	for i := range maxFences {
		keep(t, &f, key(i), fmt.Sprint(10+i))
	}
	next := key(maxFences)
	for _, a := range []ownwrites.Answer{
		{Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{UID: "u", Version: "9"}, Object: 1},
		{Kind: ownwrites.Object, Scope: ownwrites.Outside, Identity: object.Identity{UID: "u", Version: "9"}},
		{Kind: ownwrites.Deleted, Identity: object.Identity{UID: "u", Version: "9"}},
	} {
		a.Key = next
		verdict, result := f.Answered(a, stored("u", "5"), "5", true, noon)
		require.Equal(t, [2]any{Hold, Waiting}, [2]any{verdict, result})
	}
	verdict, result := f.Answered(ownwrites.Answer{Kind: ownwrites.Undated, Identity: object.Identity{Key: next, UID: "u"}}, stored("u", "5"), "5", true, noon)
	require.Equal(t, [2]any{Hold, Doubtful}, [2]any{verdict, result}, "there is no version to wait for")
	require.False(t, f.Has(next))

	keep(t, &f, key(7), "9999") // a key with a fence gets another one
	require.Equal(t, maxFences, f.Len())
	f.Reached("10", noon, nothing, func(indexer.Key, Cell, bool) {})
	keep(t, &f, next, "9998")
	require.NoError(t, f.check())
}

func TestFencesEndInTheOrderOfVersionsThatAreNumbers(t *testing.T) {
	var f Fences
	for i, version := range []string{"100", "9", "10", "99", "10"} {
		keep(t, &f, key(i), version)
	}
	var ended []string
	restore := func(key indexer.Key, _ Cell, ghost bool) {
		require.True(t, ghost)
		ended = append(ended, key.Name)
	}
	f.Reached("8", noon, nothing, restore)
	require.Empty(t, ended)
	f.Reached("99", time.Time{}, nothing, restore)
	require.Equal(t, []string{"1", "2", "4", "3"}, ended)
	f.Reached("99", noon.Add(24*time.Hour), nothing, restore)
	require.True(t, f.Has(key(0)), "only dead fences end for their age")
	require.NoError(t, f.check())
}

func TestDeadFencesEndByTheirAge(t *testing.T) {
	var f Fences
	kill(t, &f, key(1), noon)
	kill(t, &f, key(2), noon.Add(time.Minute))
	kill(t, &f, key(3), noon.Add(2*time.Minute))
	var ended []string
	restore := func(key indexer.Key, confirmed Cell, ghost bool) {
		require.False(t, ghost)
		require.Equal(t, stored("u", "5"), confirmed, "what the watch alone would show, with its stored key and stamp")
		ended = append(ended, key.Name)
	}
	f.Reached("5", noon.Add(maxAge-1), nothing, restore)
	f.Reached("99", time.Time{}, nothing, restore)
	require.Empty(t, ended, "no version ends them")
	f.Reached("5", noon.Add(maxAge+time.Minute), nothing, restore)
	require.Equal(t, []string{"1", "2"}, ended)
	f.Reached("5", noon.Add(time.Hour), nothing, restore)
	require.Equal(t, []string{"1", "2", "3"}, ended)
	require.Zero(t, f.Len())
	require.NoError(t, f.check())
}

// TestAFullStateEndsADeletion has the full states that prove that a deleted object does not come back.
func TestAFullStateEndsADeletion(t *testing.T) {
	for name, c := range map[string]struct {
		listed  Cell
		version string
		scoped  bool
		want    Verdict
	}{
		"lacks it":                 {Cell{}, "5", false, Apply},
		"lacks it, before it was":  {Cell{}, "4", false, Hold},
		"lacks it, selector":       {Cell{}, "9", true, Hold},
		"has it":                   {stored("u", "5"), "9", false, Hold},
		"has another one":          {stored("v", "7"), "9", true, Apply},
		"has another, earlier one": {stored("v", "3"), "4", false, Hold},
	} {
		t.Run(name, func(t *testing.T) {
			var f Fences
			kill(t, &f, key(1), noon)
			require.Equal(t, c.want, f.Listed(key(1), c.listed, Cell{}, c.version, c.scoped))
			require.Equal(t, c.want == Hold, f.Has(key(1)))
			require.NoError(t, f.check())
		})
	}
}

// TestAnswersThatAreNotShown has the answers of which nothing is stored.
func TestAnswersThatAreNotShown(t *testing.T) {
	update := ownwrites.Answer{Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{UID: "u", Version: "9"}, Object: 1}
	with := func(change func(a *ownwrites.Answer)) ownwrites.Answer {
		a := update
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		answer  ownwrites.Answer
		reached string
		shown   Cell
		result  Result
	}{
		"no version":                       {with(func(a *ownwrites.Answer) { a.Version = "" }), "5", Cell{}, Doubtful},
		"a version that does not compare":  {with(func(a *ownwrites.Answer) { a.Version = "x" }), "5", Cell{}, Doubtful},
		"the source has none":              {update, "", Cell{}, Doubtful},
		"the source's does not compare":    {update, "x", Cell{}, Doubtful},
		"the source has come as far":       {update, "9", Cell{}, Known},
		"the source has come further":      {update, "10", Cell{}, Known},
		"the scope is unknown":             {with(func(a *ownwrites.Answer) { a.Scope = ownwrites.Unknown }), "5", Cell{}, Waiting},
		"the source cannot store it":       {with(func(a *ownwrites.Answer) { a.Object = nil }), "5", Cell{}, Waiting},
		"deleted, no UID":                  {ownwrites.Answer{Kind: ownwrites.Undated}, "5", Cell{}, Doubtful},
		"deleted, was not held":            {ownwrites.Answer{Kind: ownwrites.Undated, Identity: object.Identity{UID: "u"}, Before: ownwrites.Before{Identity: object.Identity{UID: "v", Version: "5"}}}, "5", stored("v", "5"), Doubtful},
		"deleted, held without a version":  {ownwrites.Answer{Kind: ownwrites.Undated, Identity: object.Identity{UID: "u"}}, "5", stored("u", ""), Doubtful},
		"emptied, not held":                {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{UID: "u", Version: "5"}}, "5", Cell{}, Doubtful},
		"emptied, held at another version": {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{UID: "u", Version: "4"}}, "5", finalized("u", "5"), Doubtful},
		"emptied, held without finalizers": {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{UID: "u", Version: "5"}}, "5", stored("u", "5"), Doubtful},
		"emptied, held by hand":            {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{UID: "u", Version: "5"}}, "5", byHand(), Doubtful},
	} {
		t.Run(name, func(t *testing.T) {
			var f Fences
			verdict, result := f.Answered(c.answer, c.shown, c.reached, true, noon)
			require.Equal(t, Hold, verdict)
			require.Equal(t, c.result, result)
			require.Zero(t, f.Len())
		})
	}
}

func finalized(uid, version string) Cell {
	c := stored(uid, version)
	c.Finalizers = true
	return c
}

// byHand is what a user has put by hand.
func byHand() Cell { return Cell{Object: "by hand", Finalizers: true} }

func TestTheResultOfAnAnswerThatIsShown(t *testing.T) {
	for name, c := range map[string]struct {
		kind    ownwrites.Kind
		scope   ownwrites.Scope
		verdict Verdict
		result  Result
	}{
		"object":                        {ownwrites.Object, ownwrites.Inside, Show, Shown},
		"object outside":                {ownwrites.Object, ownwrites.Outside, Remove, Outside},
		"deleted":                       {ownwrites.Deleted, ownwrites.Inside, Remove, Shown},
		"deleted outside":               {ownwrites.Deleted, ownwrites.Outside, Remove, Outside},
		"deleted, wherever":             {ownwrites.Deleted, ownwrites.Unknown, Remove, Shown},
		"the last finalizer":            {ownwrites.Emptied, ownwrites.Inside, Remove, Shown},
		"deleted at an unknown version": {ownwrites.Undated, ownwrites.Unknown, Remove, Shown},
	} {
		t.Run(name, func(t *testing.T) {
			var f Fences
			a := ownwrites.Answer{Kind: c.kind, Scope: c.scope, Identity: object.Identity{UID: "u", Version: "9"}, Object: 1}
			shown := finalized("u", "5")
			if c.kind == ownwrites.Emptied {
				a.Version = "5"
			}
			verdict, result := f.Answered(a, shown, "5", true, noon)
			require.Equal(t, c.verdict, verdict)
			require.Equal(t, c.result, result)
			require.True(t, f.Has(a.Key))
			require.NoError(t, f.check())
		})
	}
}

// TestTheWatchIsFasterThanTheAnswer has the answers to writes whose object the watch has ended already: half of
// all writes are so. If the object cannot come back, nothing is left to doubt.
func TestTheWatchIsFasterThanTheAnswer(t *testing.T) {
	held := ownwrites.Before{Identity: object.Identity{UID: "u", Version: "5"}}
	for name, c := range map[string]struct {
		answer ownwrites.Answer
		scoped bool
		want   [2]any
	}{
		"deleted":                {ownwrites.Answer{Kind: ownwrites.Undated, Identity: object.Identity{UID: "u"}, Before: held}, false, [2]any{Hold, Known}},
		"deleted, selector":      {ownwrites.Answer{Kind: ownwrites.Undated, Identity: object.Identity{UID: "u"}, Before: held}, true, [2]any{Remove, Shown}},
		"deleted, was not held":  {ownwrites.Answer{Kind: ownwrites.Undated, Identity: object.Identity{UID: "u"}}, false, [2]any{Hold, Doubtful}},
		"emptied":                {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{UID: "u", Version: "5"}, Before: held}, false, [2]any{Hold, Known}},
		"emptied, selector":      {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{UID: "u", Version: "5"}, Before: held}, true, [2]any{Hold, Doubtful}},
		"emptied, was not held":  {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{UID: "u", Version: "5"}}, false, [2]any{Hold, Doubtful}},
		"emptied, without a UID": {ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{Version: "5"}}, false, [2]any{Hold, Doubtful}},
	} {
		t.Run(name, func(t *testing.T) {
			var f Fences
			verdict, result := f.Answered(c.answer, Cell{}, "7", c.scoped, noon)
			require.Equal(t, c.want, [2]any{verdict, result})
		})
	}
	var f Fences
	kill(t, &f, key(1), noon)
	verdict, result := f.Answered(ownwrites.Answer{Kind: ownwrites.Emptied, Identity: object.Identity{Key: key(1), UID: "u", Version: "4"}}, Cell{}, "7", true, noon)
	require.Equal(t, [2]any{Hold, Known}, [2]any{verdict, result}, "it has been overtaken by the deletion")
}

// TestObjectsThatCouldNotBePrepared shows that what is stored stays, and that a fence that the failing
// object has passed ends.
func TestObjectsThatCouldNotBePrepared(t *testing.T) {
	var f Fences
	keep(t, &f, key(1), "9")
	require.Equal(t, Hold, f.Failed(key(1), "8"))
	require.True(t, f.Has(key(1)))
	require.Equal(t, Apply, f.Failed(key(1), "9"))
	require.False(t, f.Has(key(1)))

	kill(t, &f, key(2), noon)
	require.Equal(t, Hold, f.Failed(key(2), "20"), "its age is unknown")
	require.True(t, f.Has(key(2)))
	require.NoError(t, f.check())
}

// TestAnEventWithoutUID has the deletion of an object that could not be decoded: it may be any object.
func TestAnEventWithoutUID(t *testing.T) {
	var f Fences
	kill(t, &f, key(1), noon)
	require.Equal(t, Echo, f.Event(object.Identity{Key: key(1), Version: "8"}, Cell{}, Cell{}, false))
	require.Zero(t, f.Len())
	verdict, _ := f.Answered(ownwrites.Answer{Kind: ownwrites.Deleted, Identity: object.Identity{Key: key(2), UID: "u", Version: "9"}}, stored("u", "5"), "5", false, noon)
	require.Equal(t, Remove, verdict)
	require.Equal(t, Echo, f.Event(object.Identity{Key: key(2), Version: "9"}, Cell{}, Cell{}, false))
	require.Zero(t, f.Len())
}

// TestAFenceIsVoidOnlyOverWhatAUserHasWritten tells a user's writes from those of another source.
func TestAFenceIsVoidOnlyOverWhatAUserHasWritten(t *testing.T) {
	for name, c := range map[string]struct {
		shown Cell
		void  [3]bool // ahead, absent, dead
	}{
		"nothing":                {Cell{}, [3]bool{}}, // another source has the key, or a user has deleted it
		"put by hand":            {byHand(), [3]bool{true, true, true}},
		"what the fence has put": {stored("u", "9"), [3]bool{false, true, true}},
		"another object":         {stored("v", "7"), [3]bool{true, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, kind := range []kind{ahead, absent, dead} {
				var f Fences
				f.raise(&fence{kind: kind, object: object.Identity{UID: "u", Version: "9"}, answered: noon.Add(-maxAge)}, stored("u", "5"))
				restored := false
				g := f
				g.keys = maps.Clone(f.keys)
				g.due, g.deaths = slices.Clone(f.due), slices.Clone(f.deaths)
				g.Reached("9", noon, func(indexer.Key) Cell { return c.shown }, func(indexer.Key, Cell, bool) { restored = true })
				require.NotEqual(t, c.void[i], restored, "what a user has written stays")
				require.Zero(t, g.Len())

				verdict := f.Event(object.Identity{UID: "u", Version: "8"}, stored("u", "8"), c.shown, true)
				require.Equal(t, c.void[i], verdict == Apply)
				require.NotEqual(t, c.void[i], f.Has(indexer.Key{}))
			}
		})
	}
}

func TestTheKeysAreInOrder(t *testing.T) {
	var f Fences
	for _, k := range []indexer.Key{{Namespace: "b", Name: "a"}, {Name: "z"}, {Namespace: "a", Name: "b"}, {Namespace: "a", Name: "a"}} {
		keep(t, &f, k, "9")
	}
	var names []string
	for id := range f.All() {
		names = append(names, id.Key.String())
		f.Failed(id.Key, "9") // which ends it
	}
	require.Equal(t, []string{"z", "a/a", "a/b", "b/a"}, names)
	require.Zero(t, f.Len())
}

// full returns fences of some keys, all above the versions of the events.
func full(b testing.TB, n int) *Fences {
	f := &Fences{}
	for i := range n {
		keep(b, f, key(i), fmt.Sprint(5_000_000+i))
	}
	return f
}

// pass does what the processLoop does with the fences for an event of a key that has none.
func pass(f *Fences, server indexer.Key, version string) {
	if f.Len() == 0 {
		return
	}
	if f.Has(server) {
		panic("the key has a fence")
	}
	f.Reached(version, time.Time{}, nothing, nil)
}

func TestAnEventOfAnotherKeyAllocatesNothing(t *testing.T) {
	f, other := full(t, 1000), key(-1)
	require.Zero(t, testing.AllocsPerRun(100, func() { pass(f, other, "1000000") }))
}

func BenchmarkEventOfAnotherKey(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprintf("fences=%d", n), func(b *testing.B) {
			f, other := full(b, n), key(-1)
			b.ReportAllocs()
			for b.Loop() {
				pass(f, other, "1000000")
			}
		})
	}
}

// BenchmarkEcho is an answer and its echo, while others wait for theirs.
func BenchmarkEcho(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprintf("fences=%d", n), func(b *testing.B) {
			f, own := full(b, n), key(-1)
			a := ownwrites.Answer{Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{Key: own, UID: "u", Version: "1000000"}, Object: 1}
			now := Cell{Identity: a.Identity, Object: 1}
			b.ReportAllocs()
			for b.Loop() {
				f.Answered(a, Cell{}, "1", false, noon)
				if f.Event(now.Identity, now, now, false) != Echo {
					b.Fatal("no echo")
				}
			}
		})
	}
}
