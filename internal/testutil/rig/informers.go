package rig

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// Waiting calls WaitDelivered on another goroutine, and returns the channel of its result.
func Waiting(ctx context.Context, i interface {
	WaitDelivered(context.Context, string) error
}, version string,
) <-chan error {
	result := make(chan error, 1)
	go func() { result <- i.WaitDelivered(ctx, version) }()
	return result
}

// Pends fails the test if a result has been sent.
func Pends(t *testing.T, result <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		require.Fail(t, "it has not waited", "%v", err)
	default:
	}
}

// Launch runs an informer until stop is called or the test ends.
func Launch[T informer.Object](t *testing.T, i *informer.Informer[T]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}

// Start is Launch in a synctest bubble, and returns when all goroutines wait.
func Start[T informer.Object](t *testing.T, i *informer.Informer[T]) (stop func()) {
	stop = Launch(t, i)
	synctest.Wait()
	return stop
}

// Observed is an observer that keeps the log quiet.
func Observed(informer.Event) {}

// Starts runs an informer. cancel ends the run, and wait returns after its end.
func Starts(t *testing.T, i *informer.Informer[*corev1.Pod]) (cancel func(), wait func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended, err := i.Start(ctx)
	require.NoError(t, err)
	wait = func() { require.NoError(t, ended()) }
	t.Cleanup(func() { cancel(); wait() })
	synctest.Wait()
	return cancel, wait
}

// Events collects the events that an informer reports to Observe.
type Events struct{ all chan informer.Event }

// NewEvents returns a collector of up to 1,000 events.
func NewEvents() *Events { return &Events{make(chan informer.Event, 1000)} }

// Observe collects an event.
func (e *Events) Observe(ev informer.Event) { e.all <- ev }

// Of returns the collected events of one type, and drops all others.
func Of[E any](e *Events) (found []E) {
	for {
		select {
		case ev := <-e.all:
			if f, ok := ev.(E); ok {
				found = append(found, f)
			}
		default:
			return found
		}
	}
}

// StartWithJournal starts an informer with a journal as its handler.
func StartWithJournal(t *testing.T, s kit.Source, o informer.Options[*corev1.Pod]) (*informer.Informer[*corev1.Pod], *Journal) {
	if o.Observe == nil {
		o.Observe = Observed
	}
	i, j := informer.New(SourceOf(s), o), &Journal{}
	_, err := i.Handle(j, informer.HandlerOptions{})
	require.NoError(t, err)
	Start(t, i)
	return i, j
}

// Stored returns a pod that the store must hold.
func Stored(t *testing.T, i *informer.Informer[*corev1.Pod], name string) *corev1.Pod {
	t.Helper()
	p, ok := i.Indexer().Get(Named(name))
	require.True(t, ok, name)
	return p
}

// Spell returns keys as client-go writes them.
func Spell(keys []indexer.Key) (names []string) {
	for _, key := range keys {
		names = append(names, key.String())
	}
	return names
}

// PackedCold are options of an informer that holds its objects packed, and none decoded as well.
func PackedCold() informer.Options[*corev1.Pod] {
	return informer.Options[*corev1.Pod]{Storage: informer.Storage{Decoded: informer.NewBudget(0)}}
}

// Named returns the key of a pod of [kit.Pod].
func Named(name string) indexer.Key { return indexer.Key{Namespace: "default", Name: name} }

// Eventually waits for a condition, outside of synctest bubbles.
func Eventually(t *testing.T, what func() bool, message string) {
	t.Helper()
	require.Eventually(t, what, 20*time.Second, time.Millisecond, message)
}

// Apart calls f on a goroutine of its own. It returns false if f has ended the goroutine.
func Apart(f func()) (returned bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
		returned = true
	}()
	<-ended
	return returned
}
