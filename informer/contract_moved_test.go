package informer

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
	"github.com/tidemark-k8s/tidemark/reflector"
)

// joined is a core of several sources, each told of by the test: what a reflector
// says of it passes through the transform, and is applied at once.
type joined struct {
	*fed
	in []*informerSink
}

func newJoined(t *testing.T, o Options[*corev1.Pod], sources int) *joined {
	j := &joined{fed: newFed(t, o, sources)}
	for part := range sources {
		j.in = append(j.in, newInformerSink(j.core, j.run, uint16(part)))
	}
	return j
}

func (j *joined) tell(source int, deltas ...deltafifo.Delta) {
	require.NoError(j.t, j.in[source].Write(j.t.Context(), deltas))
	j.drain(j.t)
}

func (j *joined) begins(source int, h reflector.History) {
	require.NoError(j.t, j.in[source].Begin(j.t.Context(), h))
	j.drain(j.t)
}

func (j *joined) commits(source int, version string) {
	require.NoError(j.t, j.in[source].Commit(j.t.Context(), version))
	j.drain(j.t)
}

// disguise is a transform that leaves the version on a label only.
func disguise(p *corev1.Pod) (*corev1.Pod, error) {
	p.Labels = map[string]string{"version": p.ResourceVersion}
	p.ResourceVersion, p.UID = "1", "same"
	return p, nil
}

// stripped is a transform that leaves the version on a label only, and none elsewhere.
func stripped(p *corev1.Pod) (*corev1.Pod, error) {
	p.Labels = map[string]string{"version": p.ResourceVersion}
	p.ResourceVersion, p.UID = "", ""
	return p, nil
}

// disguiseEven does so to even versions.
func disguiseEven(p *corev1.Pod) (*corev1.Pod, error) {
	if n, err := strconv.Atoi(p.ResourceVersion); err != nil || n%2 != 0 {
		return p, nil //nolint:nilerr // a version that is no number is not even
	}
	return disguise(p)
}

// D27: whoever is told of by two sources, in whatever order, is what the source
// with the higher version says; otherwise what was put last. Each word is a source
// and what it says of the pod: put (+), delete (-), or a full state with it (=), without
// it (.), that begins with it ([) and ends (]).
func TestContract_D27_TheHigherVersionWins(t *testing.T) {
	for told, want := range map[string]string{
		// It moves from a to b, and a is late.
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
		// And back.
		"a+5 b+10 a+20 b-20": "a@20",
		"a+5 b+10 a=20 b-20": "a@20",
		"b+10 b[10 a+20 b]":  "a@20",
		"b+10 b[10 a=20 b]":  "a@20",
		"b+7 a[6 a+9 a]":     "a@9",
		// And goes.
		"a+5 b+10 a+9 b-12":  "",
		"b+10 a-12":          "",
		"b+10 a-12 b-11":     "",
		"b[10 a+11 a-12 b]":  "b@10", // until b says that it is gone
		"b+10 b-12 a+9":      "a@9",  // until a says that it is gone
		"b+10 b-12 a+9 a-10": "",
		"b+10 b-12 a=9 a.10": "",
		// Of the same version, or of some that do not compare, the last; but a delete
		// is its own source's.
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
		// A history that went back has versions of its own.
		"a+100 b{5 b]":     "b@5",
		"a+100 b{5 b] b+6": "b@6",
	} {
		for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){"": nil, ", disguised": disguise, ", half disguised": disguiseEven, ", stripped": stripped} {
			t.Run(told+name, func(t *testing.T) {
				j := newJoined(t, Options[*corev1.Pod]{Transform: transform}, 2)
				j.begins(0, reflector.SameHistory)
				j.commits(0, "1")
				for word := range strings.FieldsSeq(told) {
					j.says(int(word[0]-'a'), word[1], word[2:])
				}
				require.Equal(t, want, j.holds())
			})
		}
	}
}

func (j *joined) says(source int, what byte, version string) {
	p := pod("p", version)
	switch what {
	case '+':
		j.tell(source, does(deltafifo.Modified, p))
	case '-':
		j.tell(source, does(deltafifo.Deleted, p))
	case '[', '=', '.':
		j.begins(source, reflector.SameHistory)
	case '{':
		j.begins(source, reflector.NewHistory)
	}
	switch what {
	case '[', '=', '{':
		j.tell(source, does(deltafifo.Added, p))
	}
	switch what {
	case '=', '.', ']':
		j.commits(source, "50")
	}
}

// holds tells what is stored of the pod, and whose it is.
func (j *joined) holds() string {
	p, ok := j.writer.Indexer().Get(named("p"))
	if !ok {
		return ""
	}
	source := ""
	j.writer.Freeze(func(tx *indexer.Tx) {
		part, _ := tx.Part(named("p"))
		source = string(rune('a' + part))
	})
	return source + "@" + j.versionOf(p.(*corev1.Pod))
}

func (j *joined) versionOf(p *corev1.Pod) string {
	if version, ok := p.Labels["version"]; ok {
		return version
	}
	return p.ResourceVersion
}

// D27: whatever moves, and however late and in whatever order its sources tell of
// it, by lists, streams and changes: in the end the store holds what there is.
func TestContract_D27_MovesInAnyOrder(t *testing.T) {
	for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){
		"as they are": nil,
		"disguised":   disguise,
		"stripped":    stripped,
		"half so":     disguiseEven,
		"poisonous":   poisonous,
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(300) {
				bubble(t, func(t *testing.T) {
					m := newMoves(t, rand.New(rand.NewPCG(seed, 27)), transform, name == "poisonous")
					m.run()
					m.check()
				})
				require.False(t, t.Failed(), "seed %d", seed)
			}
		})
	}
}

// moves is a history of pods that move between sources, and what the sources have
// told of it. Of each version there is a state: the pods by name.
type moves struct {
	*joined
	rand     *rand.Rand
	states   []map[string]place
	at       []int                  // the version that a source has come to
	arriving [][]deltafifo.Delta    // what is still to come of its full state; nil if there is none
	known    map[string]*corev1.Pod // to a handler
}

var movers = []string{"p", "q", "r"}

// place is where a pod is, since which version, and whether the transform fails on it.
type place struct {
	source, version int
	sick            bool
}

func newMoves(t *testing.T, r *rand.Rand, transform func(*corev1.Pod) (*corev1.Pod, error), sick bool) *moves {
	sources := 2 + r.IntN(2)
	m := &moves{
		joined:   newJoined(t, Options[*corev1.Pod]{Transform: transform}, sources),
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
	m.joins(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
		if c.Kind == Deleted {
			delete(m.known, c.Old.Name)
		} else {
			m.known[c.New.Name] = c.New
		}
	}), HandlerOptions{})
	for source := range m.at {
		m.list(source)
	}
	for m.busy() {
		m.step(m.rand.IntN(len(m.at)))
	}
	synctest.Wait()
}

// busy tells whether a source has more to tell.
func (m *moves) busy() bool {
	for source := range m.at {
		if m.arriving[source] != nil || m.at[source] < m.last() {
			return true
		}
	}
	return false
}

// step lets a source tell a little more.
func (m *moves) step(source int) {
	switch rest := m.arriving[source]; {
	case len(rest) > 0:
		n := 1 + m.rand.IntN(len(rest))
		m.tell(source, rest[:n]...)
		m.arriving[source] = rest[n:]
	case rest != nil:
		m.arriving[source] = nil
		m.commits(source, fmt.Sprint(m.at[source]))
	case m.rand.IntN(6) == 0:
		m.list(source)
	case m.at[source] < m.last():
		m.at[source]++
		if change := m.change(source, m.at[source]); change != nil {
			m.tell(source, *change)
		}
	}
}

// list begins a full state of a source: a list, and perhaps changes that a stream
// brings within it.
func (m *moves) list(source int) {
	m.begins(source, reflector.SameHistory)
	from := m.at[source] + m.rand.IntN(m.last()-m.at[source]+1)
	rest := []deltafifo.Delta{}
	for _, name := range movers {
		if p, ok := m.states[from][name]; ok && p.source == source {
			rest = append(rest, does(deltafifo.Added, p.pod(name)))
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

// change is what a source tells of a version, if anything.
func (m *moves) change(source, version int) *deltafifo.Delta {
	for _, name := range movers {
		was, had := m.states[version-1][name]
		is, has := m.states[version][name]
		switch {
		case was == is && had == has:
		case has && is.source == source:
			d := does(deltafifo.Modified, is.pod(name))
			return &d
		case had && was.source == source:
			was.version = version
			d := does(deltafifo.Deleted, was.pod(name))
			return &d
		}
	}
	return nil
}

func (p place) pod(name string) *corev1.Pod {
	obj := pod(name, fmt.Sprint(p.version))
	if p.sick {
		obj.Labels = map[string]string{"poison": "error"}
	}
	return obj
}

// check compares what is stored, and what a handler knows, with the last state.
func (m *moves) check() {
	want := m.states[m.last()]
	sick := 0
	for name, p := range want {
		if p.sick {
			sick++ // an older one may be stored
			continue
		}
		stored, ok := m.writer.Indexer().Get(named(name))
		require.True(m.t, ok, name)
		require.Equal(m.t, fmt.Sprint(p.version), m.versionOf(stored.(*corev1.Pod)))
	}
	require.EqualValues(m.t, sick, m.status.quarantined.Load())
	require.Len(m.t, m.known, m.writer.Indexer().Len())
	for stored := range podsIn(m.core).All() {
		require.Contains(m.t, want, stored.Name)
		require.Same(m.t, stored, m.known[stored.Name])
	}
}

// T19: what is put by hand under a key of a source is still that source's, and
// under a new key no source's, so that a list of one does not sweep what it cannot know.
func TestContract_T19_ByHandIntoAJoinedStore(t *testing.T) {
	for name, put := range map[string]func(cache.Store, ...*corev1.Pod) error{
		"Replace": func(s cache.Store, pods ...*corev1.Pod) error { return s.Replace([]any{pods[0], pods[1], pods[2]}, "") },
		"Update": func(s cache.Store, pods ...*corev1.Pod) error {
			return errors.Join(s.Update(pods[0]), s.Update(pods[1]), s.Add(pods[2]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJoined(t, Options[*corev1.Pod]{}, 2)
			lists := func(source int, pods ...*corev1.Pod) []string {
				j.begins(source, reflector.SameHistory)
				for _, p := range pods {
					j.tell(source, does(deltafifo.Added, p))
				}
				j.commits(source, "10")
				return slices.Sorted(slices.Values(spell(j.writer.Indexer().Keys())))
			}
			lists(0, pod("a", "1"))
			require.Equal(t, []string{"default/a", "default/b"}, lists(1, pod("b", "2")))
			require.NoError(t, put(newClientgoStore(j.core), pod("a", "1"), pod("b", "2"), pod("mine", "99")))
			require.Equal(t, []string{"default/a", "default/b", "default/mine"}, lists(0, pod("a", "1")))
			require.Equal(t, []string{"default/a", "default/mine"}, lists(1))
			require.Equal(t, []string{"default/mine"}, lists(0))
			j.tell(1, does(deltafifo.Added, pod("mine", "7")))
			require.Empty(t, lists(1), "a source has it now")
		})
	}
}
