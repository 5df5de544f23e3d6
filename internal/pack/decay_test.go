package pack

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// owners is large enough that a dictionary is small compared with the objects.
const owners = 2000

// aged is a kind with the objects of a store, by name.
type aged struct {
	*Kind
	r       *rand.Rand
	objects map[string]*Object
	plain   map[string][]byte
}

func newAged() *aged {
	return &aged{newTexts(), rand.New(rand.NewPCG(8, 1)), map[string]*Object{}, map[string][]byte{}}
}

func (a *aged) put(t *testing.T, name string, data []byte) {
	t.Helper()
	if was := a.objects[name]; was != nil {
		a.Count(was, -1)
	}
	a.objects[name], a.plain[name] = pack(t, a.Kind, "n", name, data), data
	a.Count(a.objects[name], 1)
}

// putForeign adds objects that have nothing in common with others.
func (a *aged) putForeign(t *testing.T, n, size int) {
	t.Helper()
	for i := range n {
		a.put(t, fmt.Sprintf("foreign%d", i), text(a.r, size))
	}
}

// rollOut replaces the common part of all owners' objects. If an owner has several, they get new names.
func (a *aged) rollOut(t *testing.T, owners, each int) {
	t.Helper()
	common, rollout := text(a.r, 3500), a.r.Uint32()
	put := map[string]bool{}
	for o := range owners {
		owner := text(a.r, 200)
		for i := range each {
			name := fmt.Sprintf("w%d", o)
			if each > 1 {
				name = fmt.Sprintf("w%d-%08x-%d", o, rollout, i)
			}
			a.put(t, name, fmt.Appendf(nil, "%s %s %s %s", name, common, owner, text(a.r, 100)))
			put[name] = true
		}
	}
	a.remove(func(name string) bool { return name[0] == 'w' && !put[name] })
}

func (a *aged) remove(gone func(name string) bool) {
	maps.DeleteFunc(a.objects, func(name string, o *Object) bool {
		if !gone(name) {
			return false
		}
		a.Count(o, -1)
		return true
	})
	maps.DeleteFunc(a.plain, func(name string, _ []byte) bool { return gone(name) })
}

// collect lets what no object refers to go.
func collect() {
	runtime.GC()
	runtime.GC()
}

// held returns the average bytes of an object, including its share of the bases and the dictionary.
func (a *aged) held() float64 {
	size, alive := a.current.dictionary.Load().size()+a.earlier.Load(), map[*Object]bool{}
	for _, o := range a.objects {
		alive[o] = true
		if base := o.base; base.base != nil {
			alive[base] = true
		}
	}
	for o := range alive {
		size += o.Size()
	}
	return float64(size) / float64(len(a.objects))
}

// requireFresh expects objects to read as written, and to take about as many bytes as in a new kind.
func (a *aged) requireFresh(t *testing.T) {
	t.Helper()
	fresh := newAged()
	for _, name := range slices.Sorted(maps.Keys(a.plain)) {
		requireBytes(t, a.plain[name], a.objects[name])
		fresh.put(t, name, a.plain[name])
	}
	t.Logf("%.0f bytes per object, and %.0f in a new kind", a.held(), fresh.held())
	require.Less(t, a.held(), 1.3*fresh.held())
}

func TestAChangingCommonPart(t *testing.T) {
	tier.SkipRaced(t)
	for _, rollouts := range []int{18, 24} {
		t.Run(fmt.Sprint(rollouts), func(t *testing.T) {
			a := newAged()
			for range rollouts {
				a.rollOut(t, owners, 1)
				collect()
			}
			a.requireFresh(t)
		})
	}
}

func TestForeignObjectsThatComeFirst(t *testing.T) {
	a := newAged()
	a.putForeign(t, 5, 13_000)
	a.rollOut(t, owners, 1)
	collect()
	a.remove(func(name string) bool { return name[0] == 'f' })
	a.requireFresh(t)
}

func TestNewNamesAtEachRollout(t *testing.T) {
	tier.SkipRaced(t)
	a := newAged()
	for range 50 {
		a.rollOut(t, owners/5, 5)
		collect()
	}
	a.requireFresh(t)
}

// Only as many objects stay raw as are skipped after others that have nothing in common.
func TestObjectsAfterOthersThatHaveNothingInCommon(t *testing.T) {
	a := newAged()
	a.putForeign(t, 300, 1000)
	a.rollOut(t, owners, 1)
	a.remove(func(name string) bool { return name[0] == 'f' })
	raw := 0
	for name, o := range a.objects {
		requireBytes(t, a.plain[name], o)
		if isRaw(o) {
			raw++
		}
	}
	require.LessOrEqual(t, raw, skipObjects)
}

// A sole member of a family is packed against its own earlier version only while that pays, because no other object
// needs that version.
func TestObjectsWhoseOwnPartChanges(t *testing.T) {
	tier.SkipRaced(t)
	a := newAged()
	a.rollOut(t, owners, 1)
	for name, data := range maps.Clone(a.plain) {
		copy(data[len(data)-200:], text(a.r, 200))
		a.put(t, name, data)
	}
	a.requireFresh(t)
}
