package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// joined is a core with several sources, driven by the test: deltas written to the source's sinks
// pass through the transform and are applied at once.
type joined struct {
	*testCore
	in []*engine.Sink
}

func newJoined(t *testing.T, o informer.Options[*corev1.Pod], sources int) *joined {
	j := &joined{testCore: newTestCore(t, o, sources)}
	for source := range sources {
		j.in = append(j.in, j.Sink(uint16(source)))
	}
	return j
}

func (j *joined) tell(source int, deltas ...deltafifo.Delta) {
	require.NoError(j.t, j.in[source].Write(j.t.Context(), deltas))
	j.drain(j.t)
}

func (j *joined) beginReplace(source int, h reflector.History) {
	require.NoError(j.t, j.in[source].Begin(j.t.Context(), h))
	j.drain(j.t)
}

func (j *joined) commitReplace(source int, version string) {
	require.NoError(j.t, j.in[source].Commit(j.t.Context(), version))
	j.drain(j.t)
}

// hideIdentity is a transform that moves the version into a label, and gives all objects the same
// version and UID.
func hideIdentity(p *corev1.Pod) (*corev1.Pod, error) {
	p.Labels = map[string]string{"version": p.ResourceVersion}
	p.ResourceVersion, p.UID = "1", "same"
	return p, nil
}

// disguiseEven applies disguise to objects with even versions.
func disguiseEven(p *corev1.Pod) (*corev1.Pod, error) {
	if n, err := strconv.Atoi(p.ResourceVersion); err != nil || n%2 != 0 {
		return p, nil //nolint:nilerr // a version that is no number is not even
	}
	return hideIdentity(p)
}

// D27: if two sources report the same object, the higher version wins, in any order of the reports.
// If versions are equal or do not compare, the last put wins. Each word is a report of source a or
// b about the pod: put (+), delete (-), a replacement with the pod (=) or without it (.), or the
// begin of a replacement with the pod ([), of such a replacement in a new history ({), and its end
// (]).
func TestContract_D27_TheHigherVersionWins(t *testing.T) {
	for told, want := range map[string]string{
		// The pod moves from a to b, and a's reports are late.
		"a+5 b+10 a+9":           "b@10",
		"a+5 b+10 a+9 a-10":      "b@10",
		"a+5 b+10 a-10":          "b@10",
		"a+5 a+9 a-10 b+10":      "b@10",
		"a+5 a-10 b+10":          "b@10",
		"a+5 b+10 a=9":           "b@10",
		"a+5 b+10 a=9 a-10":      "b@10",
		"a+5 b+10 a.12":          "b@10",
		"b+10 a=5":               "b@10",
		"a+5 b=10 a+9 a-10":      "b@10",
		"a+5 a[9 b+10 a]":        "b@10",
		"a+5 a[5 b+10 a]":        "b@10",
		"a+5 a[5 b+10 a] a-10":   "b@10",
		"a+5 a[9 b[10 a] b]":     "b@10",
		"a+5 a[9 b[10 b] a]":     "b@10",
		"a+5 b[10 a[9 a] a+9 b]": "b@10",
		// The pod moves back to a.
		"a+5 b+10 a+20 b-20": "a@20",
		"a+5 b+10 a=20 b-20": "a@20",
		"b+10 b[10 a+20 b]":  "a@20",
		"b+10 b[10 a=20 b]":  "a@20",
		"b+7 a[6 a+9 a]":     "a@9",
		// The pod is deleted.
		"a+5 b+10 a+9 b-12":  "",
		"b+10 a-12":          "",
		"b+10 a-12 b-11":     "",
		"b[10 a+11 a-12 b]":  "b@10", // until b reports the delete
		"b+10 b-12 a+9":      "a@9",  // until a reports the delete
		"b+10 b-12 a+9 a-10": "",
		"b+10 b-12 a=9 a.10": "",
		// If versions are equal or do not compare, the last put wins, but a delete removes only the
		// object of its own source.
		"a+5 b+5":     "b@5",
		"a+5 b=5":     "b@5",
		"a+5 b-5":     "a@5",
		"a+x b+5":     "b@5",
		"a+5 b+x":     "b@x",
		"a+5 b=x":     "b@x",
		"a+5 b-x":     "a@5",
		"a+x b-5":     "a@x",
		"a+ b+":       "b@",
		"a+ b-":       "a@",
		"a+5 b+7 b-x": "",
		"a+5 b+5 b-5": "",
		// The versions of a new history are not compared with older versions.
		"b.1 a+100 b{5 b]":     "b@5",
		"b.1 a+100 b{5 b] b+6": "b@6",
		// A first list may begin a history, too: its version arrives after its items.
		"a+10 b{5 b]":      "a@10",
		"a+10 b{5 b] b-10": "a@10",
	} {
		for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){"": nil, ", disguised": hideIdentity, ", half disguised": disguiseEven, ", stripped": rig.Stripped} {
			t.Run(told+name, func(t *testing.T) {
				j := newJoined(t, informer.Options[*corev1.Pod]{Transform: transform}, 2)
				j.beginReplace(0, reflector.SameHistory)
				j.commitReplace(0, "1")
				for word := range strings.FieldsSeq(told) {
					j.says(int(word[0]-'a'), word[1], word[2:])
				}
				require.Equal(t, want, j.holds())
			})
		}
	}
}

func (j *joined) says(source int, what byte, version string) {
	p := kit.Pod("p", version)
	switch what {
	case '+':
		j.tell(source, deltaOf(deltafifo.Modified, p))
	case '-':
		j.tell(source, deltaOf(deltafifo.Deleted, p))
	case '[', '=', '.':
		j.beginReplace(source, reflector.SameHistory)
	case '{':
		j.beginReplace(source, reflector.NewHistory)
	}
	switch what {
	case '[', '=', '{':
		j.tell(source, deltaOf(deltafifo.Added, p))
	}
	switch what {
	case '=', '.', ']':
		j.commitReplace(source, "50")
	}
}

// holds returns the source and the version of the stored pod.
func (j *joined) holds() string {
	p, ok := j.Writer().Indexer().Get(rig.Named("p"))
	if !ok {
		return ""
	}
	var stored indexer.Stored
	j.Writer().Freeze(func(tx *indexer.Tx) { stored, _ = tx.Get(rig.Named("p")) })
	return string(rune('a'+stored.Source)) + "@" + j.versionOf(p.(*corev1.Pod))
}

func (j *joined) versionOf(p *corev1.Pod) string {
	if version, ok := p.Labels["version"]; ok {
		return version
	}
	return p.ResourceVersion
}

// D3, D27: an object that has failed, and that another source has now, is not quarantined any more once
// its former source reports another version, be it good or bad.
func TestContract_D3_AnObjectThatHasMovedAwayIsNotQuarantined(t *testing.T) {
	for _, late := range []string{"", "error"} {
		j := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 2)
		for source := range 2 {
			j.beginReplace(source, reflector.SameHistory)
			j.commitReplace(source, "1")
		}
		j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5", rig.Sick)))
		j.tell(1, deltaOf(deltafifo.Added, kit.Pod("p", "7")))
		require.Equal(t, 1, j.Status().Quarantined)
		j.tell(0, deltaOf(deltafifo.Modified, kit.Pod("p", "6", kit.Label("poison", late))))
		require.Zero(t, j.Status().Quarantined)
		require.Empty(t, j.Inspector().Quarantined())
		require.Equal(t, "b@7", j.holds())
	}
}

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

// T19: an object that a user puts under a source's key belongs to that source, and under a new key to the first
// one. The next list of its source lasts longer, and so does the next report of another one.
func TestContract_T19_ByHandIntoAJoinedStore(t *testing.T) {
	for name, put := range map[string]func(cache.Store, ...*corev1.Pod) error{
		"Replace": func(s cache.Store, pods ...*corev1.Pod) error { return s.Replace([]any{pods[0], pods[1], pods[2]}, "") },
		"Update": func(s cache.Store, pods ...*corev1.Pod) error {
			return errors.Join(s.Update(pods[0]), s.Update(pods[1]), s.Add(pods[2]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJoined(t, informer.Options[*corev1.Pod]{}, 2)
			lists := func(source int, pods ...*corev1.Pod) []string {
				j.beginReplace(source, reflector.SameHistory)
				for _, p := range pods {
					j.tell(source, deltaOf(deltafifo.Added, p))
				}
				j.commitReplace(source, "10")
				return slices.Sorted(slices.Values(rig.Spell(j.Writer().Indexer().Keys())))
			}
			lists(0, kit.Pod("a", "1"))
			require.Equal(t, []string{"default/a", "default/b"}, lists(1, kit.Pod("b", "2")))
			require.NoError(t, put(j.store(), kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("mine", "99")))
			require.Equal(t, []string{"default/a", "default/mine"}, lists(1))
			j.tell(1, deltaOf(deltafifo.Added, kit.Pod("mine", "7")))
			require.Equal(t, []string{"default/a", "default/mine"}, lists(0, kit.Pod("a", "1")), "a source has it now")
			require.NoError(t, j.store().Add(kit.Pod("new", "99")))
			require.Equal(t, []string{"default/mine"}, lists(0))
			require.Empty(t, lists(1))
		})
	}
}
