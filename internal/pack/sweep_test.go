package pack

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// sweepOf lets a kind sweep a store of some objects, as an informer's does.
func sweepOf(k *Kind, stored map[*Object][]byte) {
	k.Sweep(func(visit func(*Object) bool) bool {
		for o := range stored {
			visit(o)
		}
		return true
	})
}

// Objects that were packed and not stored when a sweep came by, such as those of a long list, are swept once they
// are stored.
func TestObjectsOfALongListAreSwept(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 14))
	stored := map[*Object][]byte{}
	for range 4 { // a list that takes some seconds; the store is empty meanwhile
		for o, data := range outgrow(t, k, r) {
			stored[o] = data
		}
		sweepOf(k, nil)
	}
	for o := range stored {
		k.Count(o, 1)
	}
	for range 3 {
		sweepOf(k, stored)
	}
	generations := map[*generation]int{}
	for o := range stored {
		root := o.base.Load()
		if base := root.base.Load(); base != nil {
			root = base
		}
		generations[root.generation()]++
	}
	require.Len(t, generations, 1)
}

// Objects that are kept as they are while a list arrives are tried again when that pays.
func TestUntriedObjectsOfALongListAreSwept(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 15))
	stored := map[*Object][]byte{}
	put := func(name string, data []byte) { stored[pack(t, k, "n", name, data)] = data }
	template := text(r, 600)
	put("t-0", template)
	for i := range patience {
		put(fmt.Sprintf("foreign%d", i), text(r, 2000))
	}
	for i := range restingFor + impatience {
		put(fmt.Sprintf("like%d", i), sibling(r, template, i))
	}
	sweepOf(k, nil) // the tick
	untried := 0
	for o := range stored {
		k.Count(o, 1)
	}
	sweepOf(k, stored)
	for o := range stored {
		if root := o.base.Load(); root.base.Load() == nil && root.generation() != k.now {
			untried++
		}
	}
	require.Zero(t, untried)
}

// A generation begins although sweeps are asked for all the time.
func TestAGenerationBeginsWhileSweepsAreAskedFor(t *testing.T) {
	a := newAged()
	for now := a.now; a.now == now; {
		a.rollOut(t, 40, 1)
	}
	first := a.now
	a.sweep()
	n := 0
	again := func() { // a search pays after a rest: some objects have nothing in common with others
		for asked := a.toSweep; a.toSweep == asked; n++ {
			for i := range patience {
				pack(t, a.Kind, "n", fmt.Sprintf("x%d_%d", n, i), text(a.r, 40))
			}
			a.pace.resting = 0 // as after 240 objects more
			d := a.now.dictionary.Load().data
			pack(t, a.Kind, "n", fmt.Sprintf("y%d", n), d[len(d)/2:])
		}
	}
	again()
	for i := range 60 {
		// one second: a sweep has begun, and before it is over another is asked for
		a.Sweep(func(visit func(*Object) bool) bool { again(); return true })
		a.rollOut(t, 40, 1)
		if a.now != first {
			t.Log("begun after", i, a.toSweep, a.swept)
			return
		}
	}
	require.NotSame(t, first, a.now, "swept %d of %d", a.swept, a.toSweep)
}
