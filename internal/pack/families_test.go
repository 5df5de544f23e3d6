package pack

import (
	"hash/maphash"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newFamilies() *families { return &families{seed: maphash.MakeSeed(), of: map[uint64]family{}} }

func TestNamesOfAFamily(t *testing.T) {
	for name, want := range map[string]string{
		"web-7d4b9c6f5d-x2x4z": "web-7d4b9c6f5d",
		"web-0":                "web",
		"kube-root-ca.crt":     "kube-root-ca",
		"default":              "default",
		"-x":                   "",
		"":                     "",
	} {
		assert.Equal(t, want, prefix(name), name)
	}
	s := newFamilies()
	require.Equal(t, s.hash("n", "web-0"), s.hash("n", "web-1"))
	require.NotEqual(t, s.hash("n", "web-0"), s.hash("m", "web-0"))
	require.NotEqual(t, s.hash("n", "web-0"), s.hash("n", "db-0"))
	require.NotEqual(t, s.hash("n", "web-0"), newFamilies().hash("n", "web-0"), "nobody knows what collides")
}

func TestAFamilyGoesWithItsBase(t *testing.T) {
	s := newFamilies()
	living := new(Object)
	s.set(0, living, "")
	for i := range uint64(20_000) {
		s.set(1+i, new(Object), "")
		if i%500 == 0 {
			runtime.GC()
		}
	}
	require.LessOrEqual(t, len(s.of), 4*500, "the table grows with the families that live")
	runtime.GC()
	require.Same(t, living, s.base(0))
	require.Nil(t, s.base(20_000))
}

func TestTheTableIsBounded(t *testing.T) {
	s, o := newFamilies(), new(Object)
	for i := range uint64(5 * mostFamilies / 2) {
		s.set(i, o, "")
		if len(s.of) > 2*mostFamilies {
			t.Fatal(len(s.of))
		}
	}
	require.Same(t, o, s.base(5*mostFamilies/2-1))
	require.Nil(t, s.base(0), "all were forgotten")
}

func TestABaseThatDoesNotFitIsReplaced(t *testing.T) {
	for _, c := range []struct {
		name    string
		another bool   // the base is not the family's first
		fitted  string // + fitted, - did not
		want    string // before each: B if it is to become the base
	}{
		{"fits", false, "++++", "...."},
		{"does not fit once in a row", false, "-+-+", "...."},
		{"does not fit twice in a row", false, "+--+-", "...B."},
		{"has just been made", true, "----------", "........BB"},
		{"has just been made, and begins to fit", true, "-------++--+", "...........B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, o, got := newFamilies(), new(Object), ""
			s.set(1, o, "")
			if c.another {
				s.set(1, o, "")
			}
			for _, fitted := range c.fitted {
				if s.wantBase(1) {
					got += "B"
				} else {
					got += "."
				}
				s.note(1, "any", make([]byte, 1), make([]byte, map[rune]int{'+': 100, '-': 4}[fitted]))
			}
			require.Equal(t, c.want, got)
			runtime.KeepAlive(o)
		})
	}
}

func TestWhatDoesNotPayIsTriedAgain(t *testing.T) {
	var p pace
	tries := func(n int, paid bool) {
		t.Helper()
		for i := range n {
			if !assert.True(t, p.tries(), "object %d", i) {
				return
			}
			p.note(paid)
		}
	}
	rests := func(n int) {
		t.Helper()
		for i := range n {
			if !assert.False(t, p.tries(), "object %d", i) {
				return
			}
		}
	}
	tries(patience-1, false)
	tries(1, true)
	tries(patience, false) // in a row
	rests(restingFor)
	tries(impatience, false)
	rests(restingFor)
	tries(impatience-1, false)
	require.True(t, p.note(true), "it rests no longer")
	require.False(t, p.note(true))
	tries(patience, false)
	rests(restingFor)
	tries(1000, true)
}
