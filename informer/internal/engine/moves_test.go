package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// D27: pods move between sources, which report the moves late and in any order, by lists, streams
// and changes. In the end, the store holds the last state.
func TestContract_D27_MovesInAnyOrder(t *testing.T) {
	for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){
		"as they are": nil,
		"disguised":   hideIdentity,
		"stripped":    rig.Stripped,
		"half so":     disguiseEven,
		"poisonous":   rig.FailByLabel,
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(300) {
				synctest.Test(t, func(t *testing.T) {
					m := newMoves(t, rand.New(rand.NewPCG(seed, 27)), transform, name == "poisonous")
					m.run()
					m.check()
				})
				require.False(t, t.Failed(), "seed %d", seed)
			}
		})
	}
}

// moves is a random history of pods that move between sources, and how much of it each source has
// reported. states holds the pods by name, for each version.
type moves struct {
	*joined
	rand     *rand.Rand
	states   []map[string]place
	at       []int                  // the version that each source has reported
	arriving [][]deltafifo.Delta    // the rest of each source's replacement; nil without one
	known    map[string]*corev1.Pod // the objects that a handler knows
}

var movers = []string{"p", "q", "r"}

// place is the source that holds a pod, the version from which it does, and whether the transform
// fails on the pod.
type place struct {
	source, version int
	sick            bool
}

func newMoves(t *testing.T, r *rand.Rand, transform func(*corev1.Pod) (*corev1.Pod, error), sick bool) *moves {
	sources := 2 + r.IntN(2)
	m := &moves{
		joined:   newJoined(t, informer.Options[*corev1.Pod]{Transform: transform}, sources),
		rand:     r,
		states:   []map[string]place{{}},
		at:       make([]int, sources),
		arriving: make([][]deltafifo.Delta, sources),
		known:    map[string]*corev1.Pod{},
	}
	for version := 1; version <= 30; version++ {
		state, name := maps.Clone(m.states[version-1]), movers[r.IntN(len(movers))]
		if _, ok := state[name]; ok && r.IntN(4) == 0 {
			delete(state, name)
		} else {
			state[name] = place{r.IntN(sources), version, sick && r.IntN(3) == 0}
		}
		m.states = append(m.states, state)
	}
	return m
}

func (m *moves) last() int { return len(m.states) - 1 }

func (m *moves) run() {
	m.start()
	m.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		if c.Kind == informer.Deleted {
			delete(m.known, c.Old.Name)
		} else {
			m.known[c.New.Name] = c.New
		}
	}), informer.HandlerOptions{})
	for source := range m.at {
		m.list(source)
	}
	for m.busy() {
		m.step(m.rand.IntN(len(m.at)))
	}
	synctest.Wait()
}

// busy reports whether a source has more to report.
func (m *moves) busy() bool {
	for source := range m.at {
		if m.arriving[source] != nil || m.at[source] < m.last() {
			return true
		}
	}
	return false
}

// step lets a source report a little more.
func (m *moves) step(source int) {
	switch rest := m.arriving[source]; {
	case len(rest) > 0:
		n := 1 + m.rand.IntN(len(rest))
		m.tell(source, rest[:n]...)
		m.arriving[source] = rest[n:]
	case rest != nil:
		m.arriving[source] = nil
		m.commitReplace(source, fmt.Sprint(m.at[source]))
	case m.rand.IntN(6) == 0:
		m.list(source)
	case m.at[source] < m.last():
		m.at[source]++
		if change := m.change(source, m.at[source]); change != nil {
			m.tell(source, *change)
		}
	}
}

// list begins a replacement of a source: a list and perhaps later changes, which a stream may bring
// before the commit.
func (m *moves) list(source int) {
	m.beginReplace(source, reflector.SameHistory)
	from := m.at[source] + m.rand.IntN(m.last()-m.at[source]+1)
	rest := []deltafifo.Delta{}
	for _, name := range movers {
		if p, ok := m.states[from][name]; ok && p.source == source {
			rest = append(rest, deltaOf(deltafifo.Added, p.pod(name)))
		}
	}
	m.at[source] = from + m.rand.IntN(min(3, m.last()-from+1))
	for version := from + 1; version <= m.at[source]; version++ {
		if change := m.change(source, version); change != nil {
			rest = append(rest, *change)
		}
	}
	m.arriving[source] = rest
}

// change returns the delta that a source reports at a version, nil if the change is not its own.
func (m *moves) change(source, version int) *deltafifo.Delta {
	for _, name := range movers {
		was, had := m.states[version-1][name]
		is, has := m.states[version][name]
		switch {
		case was == is && had == has:
		case has && is.source == source:
			d := deltaOf(deltafifo.Modified, is.pod(name))
			return &d
		case had && was.source == source:
			was.version = version
			d := deltaOf(deltafifo.Deleted, was.pod(name))
			return &d
		}
	}
	return nil
}

func (p place) pod(name string) *corev1.Pod {
	obj := kit.Pod(name, fmt.Sprint(p.version))
	if p.sick {
		obj.Labels = map[string]string{"poison": "error"}
	}
	return obj
}

// check compares the store and a handler's objects with the last state.
func (m *moves) check() {
	want := m.states[m.last()]
	sick := 0
	for name, p := range want {
		if p.sick {
			sick++ // an older version may be stored
			continue
		}
		stored, ok := m.Writer().Indexer().Get(rig.Named(name))
		require.True(m.t, ok, name)
		require.Equal(m.t, fmt.Sprint(p.version), m.versionOf(stored.(*corev1.Pod)))
	}
	require.EqualValues(m.t, sick, m.Status().Quarantined)
	require.Len(m.t, m.known, m.Writer().Indexer().Len())
	for stored := range podsIn(m.Core).All() {
		require.Contains(m.t, want, stored.Name)
		require.Same(m.t, stored, m.known[stored.Name])
	}
}
