package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// Worlds show neither garbage nor races: their records would keep garbage alive, and virtual time leaves
// no room for races.

// stressed is an informer of a server's pods outside of a world.
type stressed struct {
	t        *testing.T
	server   *informertest.Server
	informer *informer.Informer[*pod]
	stop     func()
}

func newStressed(t *testing.T) *stressed {
	server := informertest.New(informertest.Options{Scheme: podScheme})
	i := informer.New(server.Source(pods, ""), informer.Options[*pod]{Observe: func(informer.Event) {}})
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	require.NoError(t, i.WaitSynced(ctx))
	return &stressed{t, server, i, func() { cancel(); require.NoError(t, wait()); server.Close() }}
}

// writes creates some pods, or updates each pod n times.
func (s *stressed) writes(pods, n int) {
	for round := range n {
		for k := range pods {
			p := &pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint("o", k)}}
			p.Spec.NodeName = fmt.Sprint("n", round)
			if _, ok := s.informer.Indexer().Get(keyOf(p)); !ok && round == 0 {
				require.NoError(s.t, s.server.Create(s.t.Context(), p))
			} else {
				require.NoError(s.t, s.server.Update(s.t.Context(), p))
			}
		}
	}
}

// A handler that is removed during a call keeps no later objects alive. A handler that is not removed
// does, which proves that the test can fail.
func TestARemovedHandlerPinsNothing(t *testing.T) {
	for _, delivery := range []informer.Delivery{informer.Every, informer.Latest} {
		for _, removed := range []bool{true, false} {
			t.Run(fmt.Sprintf("delivery %d, removed %v", delivery, removed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { stuck(t, delivery, removed) })
			})
		}
	}
}

func stuck(t *testing.T, delivery informer.Delivery, removed bool) {
	const objects, rounds = 20, 30
	s := newStressed(t)
	defer s.stop()
	var mu sync.Mutex
	var superseded []weak.Pointer[pod]
	_, err := s.informer.Handle(informer.HandlerFunc[*pod](func(c event) {
		if c.Kind == informer.Updated {
			mu.Lock()
			defer mu.Unlock()
			superseded = append(superseded, weak.Make(c.Old))
		}
	}), informer.HandlerOptions{})
	require.NoError(t, err)
	gate := make(chan struct{})
	defer close(gate)
	reg, err := s.informer.Handle(informer.HandlerFunc[*pod](func(event) { <-gate }), informer.HandlerOptions{Delivery: delivery})
	require.NoError(t, err)
	s.writes(objects, 2)
	synctest.Wait()
	if removed {
		reg.Stop()
	}
	s.writes(objects, rounds)
	synctest.Wait()
	require.Len(t, superseded, objects*(rounds+1))
	switch left := alive(superseded); {
	case removed:
		require.LessOrEqual(t, left, 2, "the objects of its call in progress")
	case delivery == informer.Every:
		require.Greater(t, left, objects*rounds/2)
	default:
		require.GreaterOrEqual(t, left, objects-1, "the last version of each object")
	}
}

// alive returns the number of objects that are still reachable after some garbage collections.
func alive(objects []weak.Pointer[pod]) (n int) {
	for range 10 {
		runtime.GC()
		n = 0
		for _, p := range objects {
			if p.Value() != nil {
				n++
			}
		}
		time.Sleep(time.Millisecond)
	}
	return n
}

// Backlog only reads, even at the moment when a handler becomes idle. Only the race detector shows a
// write, and only if Status is not called, because its lock would order the accesses.
func TestAskingOnlyReads(t *testing.T) {
	s := newStressed(t)
	defer s.stop()
	var regs []informer.Registration
	for range 4 {
		reg, err := s.informer.Handle(informer.HandlerFunc[*pod](func(event) {}), informer.HandlerOptions{Delivery: informer.Latest, Resync: time.Millisecond})
		require.NoError(t, err)
		regs = append(regs, reg)
	}
	var asking sync.WaitGroup
	var over atomic.Bool
	for _, reg := range regs {
		asking.Go(func() {
			for !over.Load() {
				_ = reg.Backlog()
			}
		})
	}
	s.writes(4, 500)
	over.Store(true)
	asking.Wait()
}
