package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// D8: Run waits for a transform that does not return. What it returns after the end of the context is not stored, and
// no other object is transformed.
func TestContract_D8_RunWaitsForTheTransform(t *testing.T) {
	for _, moment := range []string{"a list", "a watch", "a delete", "another source"} {
		t.Run(moment, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runWaitsForTheTransform(t, moment) })
		})
	}
}

func runWaitsForTheTransform(t *testing.T, moment string) {
	gate, calls := make(chan struct{}), 0
	transform := func(p *corev1.Pod) (*corev1.Pod, error) {
		if p.Labels["stuck"] != "" {
			<-gate
		}
		calls++
		return p, nil
	}
	s, sources := rig.NewScript("10", kit.Pod("a", "1")), []reflector.Source{}
	switch moment {
	case "a list":
		s.Set("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("stuck", "x")), kit.Pod("c", "3"))
	case "another source":
		sources = append(sources, rig.SourceOf(rig.NewScript("10")))
	}
	j := &rig.Journal{}
	i := informer.Join(append(sources, rig.SourceOf(s)), informer.Options[*corev1.Pod]{Transform: transform, Observe: rig.Observed})
	_, err := i.Handle(j, informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	synctest.Wait()
	switch moment {
	case "a watch", "another source":
		s.Send(watch.Added, kit.Pod("b", "11", kit.Label("stuck", "x")))
	case "a delete":
		s.Send(watch.Deleted, kit.Pod("a", "11", kit.Label("stuck", "x")))
	}
	synctest.Wait()
	before, lines := i.Status(), j.Take()
	cancel()
	time.Sleep(time.Hour)
	require.True(t, i.Status().Running)
	require.Equal(t, 1, calls)
	close(gate)
	require.NoError(t, wait())
	require.Equal(t, 2, calls)
	after := i.Status()
	require.Equal(t, before.Objects, after.Objects)
	require.Equal(t, before.Version, after.Version)
	require.Zero(t, after.Quarantined)
	require.NotContains(t, lines, "add b@11")
	require.Empty(t, j.Take())
}
