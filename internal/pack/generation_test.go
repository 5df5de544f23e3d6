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

// outgrow packs objects with new bytes in common until another generation begins. It returns the objects.
func outgrow(t *testing.T, k *Kind, r *rand.Rand) (objects map[*Object][]byte) {
	t.Helper()
	objects = map[*Object][]byte{}
	for before, n := k.current, 0; k.current == before; n++ {
		common := text(r, 4000)
		for i := range 40 {
			data := sibling(r, common, i)
			objects[pack(t, k, "n", fmt.Sprintf("w%d.%d-0", n, i), data)] = data
		}
		require.Less(t, n, 40)
	}
	return objects
}

// A sweep releases an earlier generation, even if one of its bases has been removed from the store, and although
// there are pinned objects.
func TestASweepReleasesTheEarlierGeneration(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 14))
	template := text(r, 3000)
	base := pack(t, k, "n", "web-0", template)
	data := sibling(r, template, 1)
	o, pinned := pack(t, k, "n", "web-1", data), k.Pin(1)
	require.Same(t, base, o.base.Load())
	objects := outgrow(t, k, r)
	before := k.current
	require.NotNil(t, k.previous.Value())
	outgrown := k.current
	objects2 := map[*Object][]byte{}
	for i := range 1000 {
		data := text(r, 500)
		objects2[pack(t, k, "m", fmt.Sprintf("v%d", i), data)] = data
	}
	require.Same(t, outgrown, before, "no generation begins before the sweep")
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
	require.Nil(t, k.previous.Value())
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

// The counters agree with a walk over all objects while objects are added, repacked and removed.
func TestCountersAgreeWithAWalk(t *testing.T) {
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
		a.sweep()
		agrees()
	}
	require.Same(t, &a.current.stored, a.objects["s1-0"].base.Load())
	require.Same(t, &a.current.removed, a.objects["s2-1"].base.Load().base.Load())
	before, left = nil, nil
	a.remove(func(string) bool { return true })
	for a.removed.Load() != 0 {
		runtime.GC()
	}
	require.Zero(t, a.Stored())
}

// Readers get the same bytes while objects are repacked.
func TestReadersWhileObjectsAreRepacked(t *testing.T) {
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
			require.Same(t, &k.current.fresh, o.base.Load())
		}
		outgrow(t, k, r)
	}
	close(over)
	readers.Wait()
}
