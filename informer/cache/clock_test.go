package cache

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// The options' Backoff sets the delays after failures.
func TestTheBackoffOfTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked []time.Duration
		lw := &ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			asked = append(asked, time.Since(start))
			return nil, errPoison
		}}
		backoff := &wait.Backoff{Duration: time.Second, Factor: 10, Steps: 5, Cap: 30 * time.Second}
		r := NewReflectorWithOptions(ToListWatcherWithWatchListSemantics(lw, nonStreamingClient{}), &corev1.Pod{}, &recordingStore{}, ReflectorOptions{Backoff: backoff})
		stop := startReflector(t, r)
		time.Sleep(100 * time.Second)
		stop()
		require.Equal(t, []time.Duration{0, 1 * time.Second, 11 * time.Second, 41 * time.Second, 71 * time.Second}, asked)
		require.Equal(t, 5, backoff.Steps, "the options are the caller's")
	})
}

// The options' Clock times back-offs and resyncs.
func TestTheClockOfTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		s.Fail(errPoison)
		store, clock, start := &recordingStore{}, newHandClock(flowcontrol.NewBackOff(0, 0).Clock.NewTimer), time.Now()
		r := NewReflectorWithOptions(s, &corev1.Pod{}, store, ReflectorOptions{Clock: clock, ResyncPeriod: time.Hour})
		stop := startReflector(t, r)
		require.Empty(t, store.Take())
		s.Fail(nil)
		clock.step()
		require.Equal(t, []string{"replace a@1 at 10"}, store.Take())
		clock.step()
		require.Equal(t, []string{"resync "}, store.Take())
		require.Equal(t, start, time.Now())
		stop()
	})
}

// manualClock is a clock that the test advances. T is client-go's timer type, because its package is not
// imported here.
type manualClock[T any] struct {
	mu      sync.Mutex
	waiting []chan time.Time
}

func newHandClock[T any](func(time.Duration) T) *manualClock[T] { return &manualClock[T]{} }

func (c *manualClock[T]) After(time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	ch := make(chan time.Time, 1)
	c.waiting = append(c.waiting, ch)
	return ch
}

// step ends all waits.
func (c *manualClock[T]) step() {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, ch := range c.waiting {
		ch <- time.Now()
	}
	c.waiting = nil
}

func (*manualClock[T]) Now() time.Time { return time.Now() }

func (*manualClock[T]) Since(at time.Time) time.Duration { return time.Since(at) }

func (*manualClock[T]) NewTimer(time.Duration) T { panic("the reflector does not call this") }

func (*manualClock[T]) Tick(time.Duration) <-chan time.Time {
	panic("the reflector does not call this")
}

func (*manualClock[T]) Sleep(time.Duration) { panic("the reflector does not call this") }
