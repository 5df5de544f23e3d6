package informer

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// stuckTransform is a transform that blocks on objects with the label stuck until the test opens
// its gate.
type stuckTransform struct {
	gate   chan struct{}
	open   func()
	finish func(*corev1.Pod) (*corev1.Pod, error) // called once the gate is open
}

func newStuckTransform(finish func(*corev1.Pod) (*corev1.Pod, error)) *stuckTransform {
	s := &stuckTransform{gate: make(chan struct{}), finish: finish}
	s.open = sync.OnceFunc(func() { close(s.gate) })
	return s
}

func (s *stuckTransform) transform(p *corev1.Pod) (*corev1.Pod, error) {
	if p.Labels["stuck"] == "" {
		return p, nil
	}
	<-s.gate
	return s.finish(p)
}

// endings are the ways in which a transform may end after the run has stopped waiting for it.
var endings = map[string]func(*corev1.Pod) (*corev1.Pod, error){
	"returns": func(p *corev1.Pod) (*corev1.Pod, error) { return p, nil },
	"fails":   func(*corev1.Pod) (*corev1.Pod, error) { return nil, errors.New("on purpose") },
	"panics":  func(*corev1.Pod) (*corev1.Pod, error) { panic("on purpose") },
	"exits": func(*corev1.Pod) (*corev1.Pod, error) {
		runtime.Goexit()
		return nil, nil //nolint:nilnil // not reached
	},
}

// endsInTime ends a run and requires that it takes no more than 100 ms. free unblocks the transform
// if the run waits for it.
func endsInTime(t *testing.T, cancel, wait func(), free func()) {
	t.Helper()
	cancel()
	ended, began := make(chan struct{}), time.Now()
	go func() { defer close(ended); wait() }()
	select {
	case <-ended:
		require.LessOrEqual(t, time.Since(began), 100*time.Millisecond)
	case <-time.After(time.Minute):
		free()
		<-ended
		require.Fail(t, "Run waits for the transform")
	}
}

// Run returns although a transform is stuck, and reports the object. The transform's late result is
// dropped.
func TestRunReturnsThoughTheTransformDoesNot(t *testing.T) {
	for how, ending := range endings {
		for _, moment := range []string{"a list", "a watch", "a delete", "another source"} {
			t.Run(moment+", and later it "+how, func(t *testing.T) {
				bubble(t, func(t *testing.T) { stuckTransformAt(t, moment, newStuckTransform(ending)) })
			})
		}
	}
}

func stuckTransformAt(t *testing.T, moment string, stuck *stuckTransform) {
	defer stuck.open()
	s, sources := newScript("10", kit.Pod("a", "1")), []reflector.Source{}
	switch moment {
	case "a list":
		s.Set("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("stuck", "x")))
	case "another source":
		sources = append(sources, newScript("10"))
	}
	seen, j := newEvents(), &journal{}
	i := Join(append(sources, s), Options[*corev1.Pod]{Transform: stuck.transform, Observe: seen.observe})
	_, err := i.Handle(j, HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	synctest.Wait()
	key := named("b")
	switch moment {
	case "a watch", "another source":
		s.Send(watch.Added, kit.Pod("b", "11", kit.Label("stuck", "x")))
	case "a delete":
		s.Send(watch.Deleted, kit.Pod("a", "11", kit.Label("stuck", "x")))
		key = named("a")
	}
	synctest.Wait()
	endsInTime(t, cancel, func() { require.NoError(t, wait()) }, stuck.open)

	told := of[*TransformStuckError](seen)
	require.Len(t, told, 1)
	require.Equal(t, key, told[0].Key)
	require.ErrorContains(t, told[0], key.String())
	before, lines := i.Status(), j.take()
	require.False(t, before.Running || before.Watching)
	stuck.open()
	time.Sleep(time.Second)
	after := i.Status()
	require.Equal(t, before.Objects, after.Objects)
	require.Equal(t, before.Version, after.Version)
	require.Zero(t, after.Quarantined)
	require.NotContains(t, lines, "add b@11")
	require.Empty(t, j.take())
	require.Empty(t, of[Event](seen), "nothing is told of it any more")
}

// The end of a run waits for a transform that is slow but not stuck.
func TestTheEndOfARunWaitsForASlowTransform(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := func(p *corev1.Pod) (*corev1.Pod, error) {
			time.Sleep(90 * time.Millisecond)
			return p, nil
		}
		seen := newEvents()
		i := New(newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{Transform: slow, Observe: seen.observe})
		cancel, wait := starts(t, i)
		endsInTime(t, cancel, wait, func() {})
		require.Empty(t, of[*TransformStuckError](seen))
	})
}
