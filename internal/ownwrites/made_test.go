package ownwrites_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

func TestMadeIsOneWriteOfOneWriter(t *testing.T) {
	var m ownwrites.Made
	require.False(t, m.Is("w", "u", "1", "2"))
	m.Add(m.History(), "w", "u", "", "1")
	m.Add(m.History(), "w", "u", "1", "2")
	require.True(t, m.Is("w", "u", "", "1"), "a creation")
	require.True(t, m.Is("w", "u", "1", "2"))
	require.False(t, m.Is("v", "u", "1", "2"), "another writer")
	require.False(t, m.Is("w", "v", "1", "2"), "another UID")
	require.False(t, m.Is("w", "u", "", "2"), "a merged creation")
	require.False(t, m.Is("w", "u", "0", "2"), "a merged update")
	require.False(t, m.Is("w", "u", "1", "3"), "a later version")
	require.False(t, m.Is("w", "u", "1", "1"), "a resync")
	m.Add(m.History(), "v", "u", "0", "2")
	require.True(t, m.Is("w", "u", "1", "2"), "one write makes a version")
}

func TestMadeForgetsTheOldest(t *testing.T) {
	var m ownwrites.Made
	for i := range 10_000 {
		m.Add(m.History(), "", "u", strconv.Itoa(i), strconv.Itoa(i+1))
		for back, want := range map[int]bool{0: true, 4095: true, 4096: false, 5000: false} {
			if from := i - back; from >= 0 {
				require.Equal(t, want, m.Is("", "u", strconv.Itoa(from), strconv.Itoa(from+1)), "%d after %d", from, i)
			}
		}
	}
}

// A version of the previous history may recur with another meaning.
func TestMadeForgetsAHistory(t *testing.T) {
	var m ownwrites.Made
	m.Add(m.History(), "w", "u", "1", "2")
	began := m.History()
	m.Forget()
	require.False(t, m.Is("w", "u", "1", "2"))
	m.Add(began, "w", "u", "2", "3")
	require.False(t, m.Is("w", "u", "2", "3"), "its answer may be from the previous history")
	m.Add(m.History(), "w", "u", "1", "2")
	require.True(t, m.Is("w", "u", "1", "2"))
}

func TestMadeIsSafeForAnyGoroutine(t *testing.T) {
	var m ownwrites.Made
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			writer := strconv.Itoa(g)
			for i := range 250 { // in total fewer than Made remembers
				to := strconv.Itoa(1_000_000*g + i)
				m.Add(m.History(), writer, "u", strconv.Itoa(i), to)
				if !m.Is(writer, "u", strconv.Itoa(i), to) {
					t.Errorf("%s has made %s", writer, to)
				}
			}
		})
	}
	all.Wait()
}
