package cache

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// newCounted returns a controller over a queue of ours, and what it did.
func newCounted(s *script, change func(*Config)) (Controller, *recorder) {
	r := &recorder{}
	config := &Config{
		Queue:         NewDeltaFIFOWithOptions(DeltaFIFOOptions{EmitDeltaTypeReplaced: true}),
		ListerWatcher: s.source(), ObjectType: &corev1.Pod{}, FullResyncPeriod: time.Minute,
		Process: func(obj any, initial bool) error {
			d := obj.(Deltas).Newest()
			r.add(fmt.Sprint(d.Type, " ", spoken(d.Object), " ", initial))
			return errPoison
		},
	}
	if change != nil {
		change(config)
	}
	return New(config), r
}

// B24, B98: what processing returns is told, and it goes on; also after a
// panic, where panics do not end the process.
func TestContract_B24_B98_AControllerOverAQueue(t *testing.T) {
	survive(t)
	log := captured(t)
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"), pod("b", "2"))
		c, r := newCounted(s, nil)
		require.False(t, c.HasSynced())
		stop := running(t, func(ctx context.Context) { c.Run(ctx.Done()) })
		require.Equal(t, []string{"Replaced a@1 true", "Replaced b@2 true"}, r.take())
		require.True(t, c.HasSynced() && IsDone(c.HasSyncedChecker()))
		require.Equal(t, "10", c.LastSyncResourceVersion())
		require.Equal(t, 2, log.count(errPoison.Error()))
		stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Equal(t, 1, s.lists)
	})
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"), pod("b", "2"))
		c, _ := newCounted(s, func(config *Config) {
			config.Process = func(any, bool) error { panic(errPoison) }
		})
		running(t, c.RunWithContext)
		require.True(t, c.HasSynced())
	})
}

// B98: with ReallyCrash a panic comes out of Run, and nothing is left running.
func TestContract_B98_APanicComesOutOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newCounted(newScript("10", pod("a", "1")), func(config *Config) {
			config.Process = func(any, bool) error { panic(errPoison) }
		})
		require.PanicsWithError(t, errPoison.Error(), func() { c.RunWithContext(klog.NewContext(t.Context(), klog.Logger{})) })
	})
}

func TestAControllersBatchesAndErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"), pod("b", "2"))
		var batches []int
		var errs []error
		var due bool
		c, r := newCounted(s, func(config *Config) {
			config.ProcessBatch = func(deltas []Delta, _ bool) error {
				batches = append(batches, len(deltas))
				return nil
			}
			config.WatchErrorHandler = func(r *Reflector, err error) {
				require.NotNil(t, r)
				errs = append(errs, err)
			}
			config.ShouldResync = func() bool { due = true; return false }
		})
		running(t, c.RunWithContext)
		s.send(watch.Modified, pod("a", "11"))
		require.Equal(t, []string{"Updated a@11 false"}, r.take())
		require.Equal(t, []int{2}, batches)
		s.fail(errPoison)
		s.expire()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ErrorIs(t, errors.Join(errs...), errPoison)
		require.True(t, due)
	})
}

// A watch error handler is told the context of the run.
func TestTheContextOfAWatchErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10")
		s.fail(errPoison)
		type name struct{}
		var of any
		c, _ := newCounted(s, func(config *Config) {
			config.WatchErrorHandlerWithContext = func(ctx context.Context, r *Reflector, err error) {
				require.NotNil(t, r)
				require.ErrorIs(t, err, errPoison)
				of = ctx.Value(name{})
			}
		})
		running(t, func(ctx context.Context) { c.RunWithContext(context.WithValue(ctx, name{}, "the run")) })
		require.Equal(t, "the run", of)
	})
}

func TestAControllerWithoutAQueue(t *testing.T) {
	log := captured(t)
	New(&Config{ListerWatcher: &ListWatch{}}).RunWithContext(t.Context())
	require.Equal(t, 1, log.count(reflector.ErrNoSink.Error()))
}
