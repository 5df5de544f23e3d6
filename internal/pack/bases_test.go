package pack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
)

func TestObjectsOfAFamilyHaveOneBase(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 1))
	web, db := text(r, 3000), text(r, 3000)
	first := pack(t, k, "n", "web-0", web)
	require.Same(t, &k.current.root, first.base)
	other := pack(t, k, "n", "db-0", db)
	require.Same(t, &k.current.root, other.base)
	for i := range 100 {
		data := sibling(r, web, i)
		o := pack(t, k, "n", fmt.Sprintf("web-%d", i), data)
		require.Same(t, first, o.base)
		require.Less(t, o.Size(), int64(100))
		requireBytes(t, data, o)
	}
	requireBytes(t, web, first)
	requireBytes(t, db, other)
}

// A removed base counts as long as other objects refer to it.
func TestARemovedBaseCounts(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 1))
	template := text(r, 3000)
	base := pack(t, k, "n", "web-0", template)
	other := pack(t, k, "n", "web-1", sibling(r, template, 1))
	require.Same(t, base, other.base)
	k.Count(base, 1)
	k.Count(other, 1)
	before, size := k.Size(), base.Size()
	k.Count(base, -1)
	runtime.GC()
	require.Equal(t, before+size, k.Size())
	require.Equal(t, other.Size(), k.Stored())
	runtime.KeepAlive(other)
	base, other = nil, nil
	for k.removed.Load() != 0 {
		runtime.GC()
	}
}

func TestAFamilyAdoptsTheBaseOfItsNamesakes(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 2))
	template := text(r, 3000)
	first := pack(t, k, "n", "web-0", template)
	require.Same(t, first, pack(t, k, "m", "web-0", sibling(r, template, 1)).base)
	require.Same(t, first, pack(t, k, "m", "web-1", sibling(r, template, 2)).base, "the family has adopted it")
	template = text(r, 3000)
	unlike := pack(t, k, "o", "web-0", template)
	require.Same(t, &k.current.root, unlike.base)
	require.Same(t, unlike, pack(t, k, "o", "web-1", sibling(r, template, 3)).base)
	raw := pack(t, k, "o", "web-2", text(r, 3000))
	require.True(t, isRaw(raw))
	require.Same(t, &k.current.root, raw.base, "a raw object keeps no base alive")
}

func TestAPendingBaseIsReplaced(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 3))
	pending, running := text(r, 2000), text(r, 4000)
	running = append(bytes.Clone(pending), running...)
	first := pack(t, k, "n", "web-0", pending)
	for i := range 2 {
		require.Same(t, first, pack(t, k, "n", "web-1", sibling(r, running, i)).base)
	}
	second := pack(t, k, "n", "web-2", sibling(r, running, 2))
	require.Same(t, &k.current.root, second.base)
	require.Same(t, second, pack(t, k, "n", "web-3", sibling(r, running, 3)).base)
}

func TestLargeObjectsAreNotBases(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 4))
	template := text(r, maxBase)
	large := bytes.Repeat(template, 2)
	for i := range 4 {
		o := pack(t, k, "n", "web-0", large)
		require.Same(t, &k.current.root, o.base, i)
		requireBytes(t, large, o)
	}
	base := pack(t, k, "n", "web-0", template)
	require.Same(t, &k.current.root, base.base)
	for range 20 {
		o := pack(t, k, "n", "web-1", append(bytes.Clone(template), text(r, maxBase/2)...))
		require.Same(t, base, o.base, "a large object may have a base, even if it does not fit")
	}
	require.LessOrEqual(t, cap(k.search.out), maxKept)
	require.LessOrEqual(t, len(k.current.dictionary.Load().data), maxBase)
	_, err := k.Pack("n", "web-0", make([]byte, maxSize+1), Event)
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestTheDictionaryOnlyGrows(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 5))
	var before []byte
	objects := map[*Object][]byte{}
	for i := range 100 {
		data := text(r, 2000)
		objects[pack(t, k, "n", fmt.Sprintf("w%d-0", i), data)] = data
		now := k.current.dictionary.Load().data
		require.True(t, bytes.HasPrefix(now, before))
		require.LessOrEqual(t, len(now), maxBase)
		before = now
	}
	require.Greater(t, len(before), maxBase-2000)
	for o, data := range objects {
		requireBytes(t, data, o)
	}
	pack(t, k, "n", "a-0", before[1000:5000])
	require.Same(t, &before[0], &k.current.dictionary.Load().data[0], "the dictionary learns only what it lacks")
}

func TestObjectsWithNothingInCommonAreStoredRaw(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 6))
	template := text(r, 1000)
	for i := range maxFailures {
		data := text(r, 1000)
		o := pack(t, k, "n", fmt.Sprintf("w%d-0", i), data)
		require.True(t, isRaw(o))
		requireBytes(t, data, o)
	}
	base := pack(t, k, "n", "web-0", template)
	require.True(t, isRaw(base), "skipped")
	for i := range skipObjects - 1 {
		require.True(t, isRaw(pack(t, k, "n", fmt.Sprintf("v%d-0", i), template)), i)
		require.False(t, isRaw(pack(t, k, "n", "web-1", sibling(r, template, i))), "its family has a base")
	}
	require.False(t, isRaw(pack(t, k, "n", "u-0", bytes.Repeat(template, 3))))
	runtime.KeepAlive(base)
}

// A family whose objects have nothing in common backs off by itself.
func TestAFamilyBacksOff(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 13))
	pack(t, k, "n", "odd-0", text(r, 1000))
	tried := 0
	for range 1000 {
		if k.families.byHash[k.families.hash("n", "odd-1")].backoff.skip == 0 {
			tried++
		}
		require.True(t, isRaw(pack(t, k, "n", "odd-1", text(r, 1000))))
	}
	require.Less(t, tried, 200)
	template := text(r, 1000)
	pack(t, k, "n", "web-0", template)
	require.False(t, isRaw(pack(t, k, "n", "web-1", template)))
}

func TestABaseLivesWhileAnObjectNeedsIt(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 8))
	template := text(r, 1000)
	base := weak.Make(pack(t, k, "n", "web-0", template))
	data := sibling(r, template, 1)
	o := pack(t, k, "n", "web-1", data)
	for range 3 { // so that the base is cached
		requireBytes(t, data, o)
	}
	pack(t, k, "n", "web-1", data)
	pack(t, k, "n", "web-1", data)
	runtime.GC()
	require.NotNil(t, base.Value())
	requireBytes(t, data, o)
	runtime.GC()
	require.Nil(t, base.Value())
	require.Same(t, &k.current.root, pack(t, k, "n", "web-2", data).base, "the family has lost its base")
}

func TestCachedBasesAreBounded(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 10))
	var bases, objects []*Object
	for i := range 100 {
		template := text(r, 20_000)
		bases = append(bases, pack(t, k, "n", fmt.Sprintf("w%d-0", i), template))
		for range 3 {
			objects = append(objects, pack(t, k, "n", fmt.Sprintf("w%d-1", i), template))
			requireBytes(t, template, objects[len(objects)-1])
		}
		k.check(t)
	}
	require.Greater(t, k.readCache.bytes.Load(), int64(maxCacheBytes-20_000))
	require.Greater(t, k.packCache.bytes.Load(), int64(maxCacheBytes-40_000))
	runtime.KeepAlive(bases)
}
