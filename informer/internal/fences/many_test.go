package fences

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// many is a store of several keys, each with a twin of its own, and one set of fences for all.
type many struct {
	t      *testing.T
	rand   *rand.Rand
	fences Fences
	keys   []indexer.Key
	twins  map[indexer.Key]store
	at     int8
}

func newMany(t *testing.T, seed uint64) *many {
	m := &many{t: t, rand: rand.New(rand.NewPCG(seed, 7)), twins: map[indexer.Key]store{}, at: 1} //nolint:gosec // a test
	for i := range 8 {
		key := indexer.Key{Namespace: "default", Name: string(rune('a' + i))}
		m.keys, m.twins[key] = append(m.keys, key), store{at: 1}
	}
	return m
}

// object returns a state near the version that the source has reached.
func (m *many) object() state {
	return state{uid: 1 + int8(m.rand.IntN(3)), rev: max(1, m.at-2+int8(m.rand.IntN(8))), in: m.rand.IntN(4) > 0, fin: m.rand.IntN(2) == 0, term: m.rand.IntN(4) == 0} //nolint:gosec // small
}

func (m *many) input() input {
	s, gone := m.object(), m.rand.IntN(8) == 0
	switch m.rand.IntN(12) {
	case 0, 1, 2, 3:
		return input{kind: answered, answer: answer{now: s, vague: m.rand.IntN(8) == 0, gone: gone, delete: gone}}
	case 4, 5:
		return input{kind: answered, answer: answer{delete: true, status: true, now: state{uid: s.uid, rev: s.rev}}}
	case 6, 7, 8:
		s.rev = max(s.rev, m.at)
		return input{kind: event, object: s, deleted: m.rand.IntN(3) == 0}
	case 9:
		return input{kind: failed, version: max(s.rev, m.at)}
	case 10:
		return input{kind: reached, version: s.rev}
	default:
		in := input{kind: listed, object: s, version: max(s.rev, m.at)}
		if gone {
			in.object = state{}
		}
		return in
	}
}

// step gives an input to a key, and lets all others know of its version.
func (m *many) step() {
	key, in := m.keys[m.rand.IntN(len(m.keys))], m.input()
	before, ends := m.twins[key], m.ends()
	want := map[indexer.Key]outcome{key: before.take(in, "")}
	at := want[key].at
	for _, other := range m.keys {
		if other != key {
			want[other] = m.twins[other].take(input{kind: reached, version: at}, "")
		}
	}
	got := map[indexer.Key]*loop{}
	for _, other := range m.keys {
		got[other] = &loop{&m.fences, other, outcome{store: m.twins[other]}}
	}
	got[key].take(in)
	m.reach(in, at, got, ends)
	require.NoError(m.t, m.fences.check())
	var fenced []indexer.Key
	for _, key := range m.keys {
		got[key].at, got[key].pen = at, save(&m.fences, key)
		w := want[key]
		w.at = at
		require.Equal(m.t, w, got[key].outcome, "%v after %+v", key, in)
		require.Equal(m.t, w.pen.kind != noPen, m.fences.Has(key))
		if w.pen.kind != noPen {
			fenced = append(fenced, key)
		}
		m.twins[key] = w.store
	}
	m.at = at
	require.Len(m.t, fenced, m.fences.Len())
	var keys []indexer.Key
	for id := range m.fences.All() {
		keys = append(keys, id.Key)
	}
	require.Equal(m.t, fenced, keys)
}

// reach ends the fences that a version has passed, and looks at their order.
func (m *many) reach(in input, at int8, got map[indexer.Key]*loop, ends map[indexer.Key]int8) {
	if !in.moves() {
		return
	}
	last := int8(0)
	m.fences.Reached(version(at), time.Time{}, func(key indexer.Key) Cell { return got[key].shown(key) }, func(key indexer.Key, confirmed Cell, ghost bool) {
		require.LessOrEqual(m.t, last, ends[key], "fences end in the order of their versions")
		last = ends[key]
		got[key].restored(key, confirmed, ghost)
	})
}

// ends returns the versions with which the fences end.
func (m *many) ends() map[indexer.Key]int8 {
	ends := map[indexer.Key]int8{}
	for key, twin := range m.twins {
		if twin.pen.kind != penDead { // no version ends a dead one
			ends[key] = twin.pen.rev
		}
	}
	return ends
}

// TestManyKeysAgainstTheirTwins shows that the fences of several keys do not touch each other.
func TestManyKeysAgainstTheirTwins(t *testing.T) {
	for seed := range uint64(60) {
		m := newMany(t, seed)
		for m.at < maxVersions-12 {
			m.step()
		}
	}
}
