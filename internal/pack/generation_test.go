package pack

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outgrow packs objects with something new in common until a generation begins, and returns them.
func outgrow(t *testing.T, k *Kind, r *rand.Rand) (objects map[*Object][]byte) {
	t.Helper()
	objects = map[*Object][]byte{}
	for before, n := k.now, 0; k.now == before; n++ {
		common := text(r, 4000)
		for i := range 40 {
			data := sibling(r, common, i)
			objects[pack(t, k, "n", fmt.Sprintf("w%d.%d-0", n, i), data)] = data
		}
		require.Less(t, n, 40)
	}
	return objects
}

// An earlier generation lives as long as objects refer to it, and a sweep leaves none: not a base that is stored no
// longer, nor a pinned object.
func TestAnEarlierGenerationGoes(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 14))
	template := text(r, 3000)
	base := pack(t, k, "n", "web-0", template)
	data := sibling(r, template, 1)
	o, pinned := pack(t, k, "n", "web-1", data), k.Pin(1)
	require.Same(t, base, o.base.Load())
	objects := outgrow(t, k, r)
	before := k.now
	require.NotNil(t, k.before.Value())
	outgrown := k.now
	objects2 := map[*Object][]byte{}
	for i := range 1000 {
		data := text(r, 500)
		objects2[pack(t, k, "m", fmt.Sprintf("v%d", i), data)] = data
	}
	require.Same(t, outgrown, before, "no other generation begins before the sweep")
	k.Sweep(func(visit func(*Object) bool) bool {
		visit(o)
		visit(pinned)
		for o := range objects {
			visit(o)
		}
		return true
	})
	runtime.GC()
	runtime.GC()
	require.Nil(t, k.before.Value())
	requireBytes(t, data, o)
	for o, data := range objects {
		requireBytes(t, data, o)
	}
	for o, data := range objects2 {
		requireBytes(t, data, o)
	}
	outgrow(t, k, r)
	runtime.KeepAlive(pinned)
}

// What is counted as objects come, are packed anew, and go is what a walk over all of them finds.
func TestCountsAreThoseOfAWalk(t *testing.T) {
	a := newAged()
	before, left := maps.Clone(a.objects), map[*Object]bool{}
	agrees := func() {
		t.Helper()
		stored, held := int64(0), int64(0)
		for name, o := range before {
			if a.objects[name] != o && o.base.Load().base.Load() == nil {
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
		require.Equal(t, held, a.left.Load())
		before = maps.Clone(a.objects)
	}
	template := text(a.r, 3000)
	for i := range 3 { // they stay, but for one base
		for j := range 3 {
			a.put(t, fmt.Sprintf("s%d-%d", i, j), sibling(a.r, template, j))
		}
	}
	agrees()
	a.remove(func(name string) bool { return name == "s2-0" })
	agrees()
	for range 3 {
		for now := a.now; a.now == now; {
			a.rollOut(t, 40, 3)
			agrees()
		}
		a.sweep()
		agrees()
	}
	require.Same(t, &a.now.stored, a.objects["s1-0"].base.Load())
	require.Same(t, &a.now.left, a.objects["s2-1"].base.Load().base.Load())
	before, left = nil, nil
	a.remove(func(string) bool { return true })
	for a.left.Load() != 0 {
		runtime.GC()
	}
	require.Zero(t, a.Stored())
}

// Readers get the same bytes while an object is packed anew.
func TestReadersWhileObjectsArePackedAnew(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 15))
	objects := outgrow(t, k, r)
	var readers sync.WaitGroup
	over := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				for o, data := range objects {
					v, err := o.Value(Nowhere)
					if !assert.NoError(t, err) || !assert.Equal(t, string(data), v.(*decoded).text) {
						return
					}
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		k.Sweep(func(visit func(*Object) bool) bool {
			for o := range objects {
				visit(o)
			}
			return true
		})
		for o := range objects {
			require.Same(t, &k.now.root, o.base.Load())
		}
		outgrow(t, k, r)
	}
	close(over)
	readers.Wait()
}
