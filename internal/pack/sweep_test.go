package pack

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// sweepOf sweeps a store of these objects.
func sweepOf(k *Kind, stored map[*Object][]byte) {
	k.Sweep(func(visit func(*Object) bool) bool {
		for o := range stored {
			visit(o)
		}
		return true
	})
}

// Objects that were packed but not yet stored during a sweep, such as those of a long list, are swept after they
// have been stored.
func TestObjectsOfALongListAreSwept(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 14))
	stored := map[*Object][]byte{}
	for range 4 { // a list that takes some seconds, while the store is empty
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

// Objects that are skipped while a list arrives are tried again once packing pays.
func TestUntriedObjectsOfALongListAreSwept(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 15))
	stored := map[*Object][]byte{}
	put := func(name string, data []byte) { stored[pack(t, k, "n", name, data)] = data }
	template := text(r, 600)
	put("t-0", template)
	for i := range maxFailures {
		put(fmt.Sprintf("foreign%d", i), text(r, 2000))
	}
	for i := range skipObjects + retryFailures {
		put(fmt.Sprintf("like%d", i), sibling(r, template, i))
	}
	sweepOf(k, nil) // before the objects are stored
	untried := 0
	for o := range stored {
		k.Count(o, 1)
	}
	sweepOf(k, stored)
	for o := range stored {
		if root := o.base.Load(); root.base.Load() == nil && root.generation() != k.current {
			untried++
		}
	}
	require.Zero(t, untried)
}

// A generation begins even if sweeps are requested all the time.
func TestAGenerationBeginsWhileSweepsAreRequested(t *testing.T) {
	a := newAged()
	for now := a.current; a.current == now; {
		a.rollOut(t, 40, 1)
	}
	first := a.current
	a.sweep()
	n := 0
	again := func() { // requests a sweep: a search pays after many that did not
		for before := a.requested; a.requested == before; n++ {
			for i := range maxFailures {
				pack(t, a.Kind, "n", fmt.Sprintf("x%d_%d", n, i), text(a.r, 40))
			}
			a.backoff.skip = 0 // as after 240 more objects
			d := a.current.dictionary.Load().data
			pack(t, a.Kind, "n", fmt.Sprintf("y%d", n), d[len(d)/2:])
		}
	}
	again()
	for i := range 60 {
		// one second: before the sweep ends, another one is requested
		a.Sweep(func(visit func(*Object) bool) bool { again(); return true })
		a.rollOut(t, 40, 1)
		if a.current != first {
			t.Logf("begun after %d seconds, with %d of %d sweeps complete", i, a.swept, a.requested)
			return
		}
	}
	require.NotSame(t, first, a.current, "%d of %d sweeps are complete", a.swept, a.requested)
}
