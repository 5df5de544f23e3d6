package pack

import (
	"hash/maphash"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newFamilies() *families { return &families{seed: maphash.MakeSeed(), byHash: map[uint64]family{}} }

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
	require.NotEqual(t, s.hash("n", "web-0"), newFamilies().hash("n", "web-0"), "collisions cannot be predicted")
}

func TestAFamilyIsRemovedWithItsBase(t *testing.T) {
	s := newFamilies()
	living := new(Object)
	s.set(0, living, "")
	for i := range uint64(20_000) {
		s.set(1+i, new(Object), "")
		if i%500 == 0 {
			runtime.GC()
		}
	}
	require.LessOrEqual(t, len(s.byHash), 4*500, "only families with a base take room")
	runtime.GC()
	require.Same(t, living, s.base(0))
	require.Nil(t, s.base(20_000))
}

func TestTheTableIsBounded(t *testing.T) {
	s, o := newFamilies(), new(Object)
	for i := range uint64(5 * maxFamilies / 2) {
		s.set(i, o, "")
		if len(s.byHash) > 2*maxFamilies {
			t.Fatal(len(s.byHash))
		}
	}
	require.Same(t, o, s.base(5*maxFamilies/2-1))
	require.Nil(t, s.base(0), "all families were removed")
}

func TestAMisfitBaseIsReplaced(t *testing.T) {
	for _, c := range []struct {
		name    string
		another bool   // the base has replaced another one
		fits    string // for each object: + if the base fits, - if not
		want    string // before each object: B if it should become the base
	}{
		{"fits", false, "++++", "...."},
		{"does not fit once", false, "-+-+", "...."},
		{"does not fit twice in a row", false, "+--+-", "...B."},
		{"is new", true, "----------", "........BB"},
		{"is new, and begins to fit", true, "-------++--+", "...........B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, o, got := newFamilies(), new(Object), ""
			s.set(1, o, "")
			if c.another {
				s.set(1, o, "")
			}
			for _, fits := range c.fits {
				if s.needsBase(1) {
					got += "B"
				} else {
					got += "."
				}
				s.record(1, "any", make([]byte, 1), make([]byte, map[rune]int{'+': 100, '-': 4}[fits]))
			}
			require.Equal(t, c.want, got)
			runtime.KeepAlive(o)
		})
	}
}

func TestBackoff(t *testing.T) {
	var p backoff
	tries := func(n int, paid bool) {
		t.Helper()
		for i := range n {
			if !assert.True(t, p.attempt(), "object %d", i) {
				return
			}
			p.record(paid)
		}
	}
	skips := func(n int) {
		t.Helper()
		for i := range n {
			if !assert.False(t, p.attempt(), "object %d", i) {
				return
			}
		}
	}
	tries(maxFailures-1, false)
	tries(1, true)
	tries(maxFailures, false) // the failure before does not count
	skips(skipObjects)
	tries(retryFailures, false)
	skips(skipObjects)
	tries(retryFailures-1, false)
	tries(1, true)
	tries(maxFailures, false)
	skips(skipObjects)
	tries(1000, true)
}
