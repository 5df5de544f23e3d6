package pack

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// rollOut packs objects with new bytes in common, and adds them to a map.
func rollOut(t *testing.T, k *Kind, r *rand.Rand, objects map[*Object][]byte) {
	t.Helper()
	common, rollout := text(r, 4000), r.Uint32()
	for i := range 40 {
		data := sibling(r, common, i)
		objects[pack(t, k, "n", fmt.Sprintf("w%x.%d-0", rollout, i), data)] = data
	}
}

// outgrow packs objects with new bytes in common until another generation begins, and adds them to a map.
func outgrow(t *testing.T, k *Kind, r *rand.Rand, objects map[*Object][]byte) {
	t.Helper()
	for before, n := k.current, 0; k.current == before; n++ {
		rollOut(t, k, r, objects)
		require.Less(t, n, 40)
	}
}

// Earlier generations live as long as objects refer to them. The size of their dictionaries is bounded.
func TestEarlierGenerations(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 14))
	objects := map[*Object][]byte{}
	for k.earlier.Load() <= maxEarlier-maxBase {
		outgrow(t, k, r, objects)
	}
	require.LessOrEqual(t, k.earlier.Load(), int64(maxEarlier))
	last := k.current
	for range 40 {
		rollOut(t, k, r, objects)
	}
	require.Same(t, last, k.current, "no other generation begins")
	for o, data := range objects {
		requireBytes(t, data, o)
	}
	objects = map[*Object][]byte{}
	for k.earlier.Load() != 0 {
		runtime.GC()
	}
	outgrow(t, k, r, objects)
}

// The counters agree with a walk over all objects while objects are added and removed.
func TestCountersAgreeWithAWalk(t *testing.T) {
	a := newAged()
	before, left := maps.Clone(a.objects), map[*Object]bool{}
	agrees := func() {
		t.Helper()
		stored, held := int64(0), int64(0)
		for name, o := range before {
			if a.objects[name] != o && o.base.base == nil {
				left[o] = true
			}
		}
		for _, o := range a.objects {
			stored += o.Size()
		}
		for o := range left {
			held += o.Size()
		}
		require.Equal(t, stored, a.Stored())
		require.Equal(t, held, a.removed.Load())
		before = maps.Clone(a.objects)
	}
	template := text(a.r, 3000)
	for i := range 3 { // all but one base stay
		for j := range 3 {
			a.put(t, fmt.Sprintf("s%d-%d", i, j), sibling(a.r, template, j))
		}
	}
	agrees()
	a.remove(func(name string) bool { return name == "s2-0" })
	agrees()
	for range 3 {
		for now := a.current; a.current == now; {
			a.rollOut(t, 40, 3)
			agrees()
		}
	}
	before, left = nil, nil
	a.remove(func(string) bool { return true })
	for a.removed.Load() != 0 {
		runtime.GC()
	}
	require.Zero(t, a.Stored())
}
