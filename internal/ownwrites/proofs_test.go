package ownwrites_test

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

var (
	keyA = indexer.Key{Namespace: "n", Name: "a"}
	keyB = indexer.Key{Namespace: "n", Name: "b"}
)

// wrote notes a whole write from one version to another.
func wrote(p *ownwrites.Proofs, writer string, from, to string) {
	p.End(p.Begin(writer, keyA, from), "u", to)
}

func TestMadeNeedsTheWholeProof(t *testing.T) {
	var p ownwrites.Proofs
	require.False(t, p.Made("w", keyA, "u", "1", "2"))
	wrote(&p, "w", "1", "2")
	require.True(t, p.Made("w", keyA, "u", "1", "2"))
	require.False(t, p.Made("v", keyA, "u", "1", "2"), "another writer")
	require.False(t, p.Made("w", keyB, "u", "1", "2"), "another object")
	require.False(t, p.Made("w", keyA, "v", "1", "2"), "another UID")
	require.False(t, p.Made("w", keyA, "u", "0", "2"), "a merged update")
	require.False(t, p.Made("w", keyA, "u", "1", "3"), "a later version")
	p.End(p.Begin("w", keyA, "2"), "", "")
	require.False(t, p.Made("w", keyA, "u", "2", "3"), "a write without an answer")
}

func TestProofsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p ownwrites.Proofs
		wrote(&p, "", "0", "1")
		time.Sleep(10*time.Minute - time.Nanosecond)
		require.True(t, p.Made("", keyA, "u", "0", "1"))
		time.Sleep(time.Nanosecond)
		require.False(t, p.Made("", keyA, "u", "0", "1"), "after ten minutes")
	})
	var p ownwrites.Proofs
	for i := range 10_000 {
		wrote(&p, "", strconv.Itoa(i), strconv.Itoa(i+1))
		for back, want := range map[int]bool{0: true, 4095: true, 4096: false, 5000: false} {
			if from := i - back; from >= 0 {
				require.Equal(t, want, p.Made("", keyA, "u", strconv.Itoa(from), strconv.Itoa(from+1)), "%d after %d", from, i)
			}
		}
	}
}

// The event of a write often comes before its answer.
func TestMadeWaitsForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p ownwrites.Proofs
		w := p.Begin("w", keyA, "1")
		other := p.Begin("w", keyA, "1") // refused for its condition
		go func() {
			time.Sleep(time.Millisecond)
			p.End(other, "", "")
			time.Sleep(time.Millisecond)
			p.End(w, "u", "2")
			p.End(w, "u", "3") // too late
		}()
		since := time.Now()
		require.False(t, p.Made("w", keyA, "u", "0", "2"), "not the condition of the write")
		require.False(t, p.Made("v", keyA, "u", "1", "2"), "nor its writer")
		require.False(t, p.Made("w", keyB, "u", "1", "2"), "nor its object")
		require.Zero(t, time.Since(since))
		require.True(t, p.Made("w", keyA, "u", "1", "2"))
		require.Equal(t, 2*time.Millisecond, time.Since(since))
		require.False(t, p.Made("w", keyA, "u", "1", "3"))
		synctest.Wait()
	})
}

// A write that hangs makes those who ask wait once.
func TestMadeWaitsOnceForAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p ownwrites.Proofs
		hangs, longer := p.Begin("", keyA, "1"), p.Begin("", keyA, "1")
		since := time.Now()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 30 * time.Millisecond)
				require.False(t, p.Made("", keyA, "u", "1", "2"))
				require.Equal(t, 100*time.Millisecond, time.Since(since))
			})
		}
		all.Wait()
		require.False(t, p.Made("", keyA, "u", "1", "2"))
		require.Equal(t, 100*time.Millisecond, time.Since(since))
		p.End(hangs, "u", "2")
		require.True(t, p.Made("", keyA, "u", "1", "2"), "when the answer has come after all")
		p.End(longer, "", "")
	})
}

func TestProofsAreSafeForAnyGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a wait of Made does not end while somebody is about to answer
		var p ownwrites.Proofs
		var all sync.WaitGroup
		for g := range 16 {
			all.Go(func() {
				writer := strconv.Itoa(g)
				for i := range 250 { // all together fewer than are remembered
					w := p.Begin(writer, keyA, strconv.Itoa(i))
					to := strconv.Itoa(1_000_000*g + i)
					made := make(chan bool)
					go func() { made <- p.Made(writer, keyA, "u", strconv.Itoa(i), to) }()
					p.End(w, "u", to)
					require.True(t, <-made)
				}
			})
		}
		all.Wait()
	})
}
