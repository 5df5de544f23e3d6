package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// WaitDelivered does not wait for a change that is published after the call.
func TestWaitDeliveredDoesNotWaitForWhatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		tokens := make(chan struct{}, 2)
		f.register(rig.Ticketed(tokens), informer.HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("x", "1"))
		synctest.Wait() // the handler is in the call of x
		f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "2")))
		result := rig.Waiting(t.Context(), f, "2")
		rig.Pends(t, result)
		f.apply(deltaOf(deltafifo.Added, kit.Pod("b", "3")))
		tokens <- struct{}{}
		rig.Pends(t, result) // the handler is in the call of a
		tokens <- struct{}{}
		synctest.Wait() // the handler is in the call of b
		require.Len(t, result, 1)
		require.NoError(t, <-result)
		close(tokens)
	})
}

// WaitFor waits until the store holds the object, even if an index function delays the commit of
// the replacement that has brought it.
func TestWaitForOfJoinedSourcesWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		blocks := indexer.Index[*corev1.Pod]{Name: "x", Append: func(v []string, p *corev1.Pod) []string {
			if p.Name == "b" {
				<-gate
			}
			return v
		}}
		f := newTestCore(t, informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{blocks}}, 2)
		f.list("1")
		f.apply(deltafifo.Delta{Op: deltafifo.Begin, Source: 1}, deltafifo.Delta{Op: deltafifo.Commit, Source: 1, Version: "10"})
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.list("5", kit.Pod("b", "3"), kit.Pod("a", "4"))
		}()
		synctest.Wait() // in the middle of the commit
		_, stored := f.Writer().Indexer().Get(rig.Named("a"))
		require.False(t, stored)
		result := make(chan error, 1)
		go func() { result <- f.WaitFor(t.Context(), kit.Pod("a", "4")) }()
		rig.Pends(t, result)
		close(gate)
		<-done
		require.NoError(t, <-result)
	})
}
