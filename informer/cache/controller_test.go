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

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// newTestController returns a controller with this module's queue, and a record of its calls.
func newTestController(s *kit.Script, change func(*Config)) (Controller, *kit.Recorder) {
	r := &kit.Recorder{}
	config := &Config{
		Queue:         NewDeltaFIFOWithOptions(DeltaFIFOOptions{EmitDeltaTypeReplaced: true}),
		ListerWatcher: s, ObjectType: &corev1.Pod{}, FullResyncPeriod: time.Minute,
		Process: func(obj any, initial bool) error {
			d := obj.(Deltas).Newest()
			r.Add(fmt.Sprint(d.Type, " ", kit.Text(d.Object), " ", initial), d.Object)
			return errPoison
		},
	}
	if change != nil {
		change(config)
	}
	return New(config), r
}

// B24, B98: errors of processing are logged, and the controller continues. It also continues after a panic, if
// panics do not end the process.
func TestContract_B24_B98_AControllerOverAQueue(t *testing.T) {
	kit.SurvivePanics(t)
	log := kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		c, r := newTestController(s, nil)
		require.False(t, c.HasSynced())
		stop := runInBackground(t, func(ctx context.Context) { c.Run(ctx.Done()) })
		require.Equal(t, []string{"Replaced a@1 true", "Replaced b@2 true"}, r.Take())
		require.True(t, c.HasSynced() && IsDone(c.HasSyncedChecker()))
		require.Equal(t, "10", c.LastSyncResourceVersion())
		require.Equal(t, 2, log.Count(errPoison.Error()))
		stop()
		lists, _ := s.Requests()
		require.Equal(t, 1, lists)
	})
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		c, _ := newTestController(s, func(config *Config) {
			config.Process = func(any, bool) error { panic(errPoison) }
		})
		runInBackground(t, c.RunWithContext)
		require.True(t, c.HasSynced())
	})
}

// B98: with ReallyCrash, a panic ends Run, and no goroutine is left.
func TestContract_B98_APanicComesOutOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTestController(kit.NewScript("10", kit.Pod("a", "1")), func(config *Config) {
			config.Process = func(any, bool) error { panic(errPoison) }
		})
		require.PanicsWithError(t, errPoison.Error(), func() { c.RunWithContext(klog.NewContext(t.Context(), klog.Logger{})) })
	})
}

func TestAControllersBatchesAndErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		var batches []int
		var errs []error
		var due bool
		c, r := newTestController(s, func(config *Config) {
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
		runInBackground(t, c.RunWithContext)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"Updated a@11 false"}, r.Take())
		require.Equal(t, []int{2}, batches)
		s.Fail(errPoison)
		s.Expire()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ErrorIs(t, errors.Join(errs...), errPoison)
		require.True(t, due)
	})
}

// A watch error handler gets the context of the run.
func TestTheContextOfAWatchErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10")
		s.Fail(errPoison)
		type name struct{}
		var of any
		c, _ := newTestController(s, func(config *Config) {
			config.WatchErrorHandlerWithContext = func(ctx context.Context, r *Reflector, err error) {
				require.NotNil(t, r)
				require.ErrorIs(t, err, errPoison)
				of = ctx.Value(name{})
			}
		})
		runInBackground(t, func(ctx context.Context) { c.RunWithContext(context.WithValue(ctx, name{}, "the run")) })
		require.Equal(t, "the run", of)
	})
}

func TestAControllerWithoutAQueue(t *testing.T) {
	log := kit.CaptureLog(t)
	New(&Config{ListerWatcher: &ListWatch{}}).RunWithContext(t.Context())
	require.Equal(t, 1, log.Count(reflector.ErrNoSink.Error()))
}

// A second Run logs an error, and the first continues.
func TestAControllerRunsOnce(t *testing.T) {
	log := kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		c, r := newTestController(s, nil)
		stop := runInBackground(t, c.RunWithContext)
		c.RunWithContext(t.Context())
		require.Equal(t, 1, log.Count(reflector.ErrStarted.Error()))
		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"Replaced a@1 true", "Updated a@11 false"}, r.Take())
		stop()
	})
}

// A resync that the queue refuses is logged. It is not an error of a list or watch.
func TestARefusedResyncIsNoWatchError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorded := 0
		c := New(&Config{
			Queue: refusesResyncs{NewDeltaFIFO(MetaNamespaceKeyFunc, nil)}, ListerWatcher: kit.NewScript("10"), ObjectType: &corev1.Pod{},
			FullResyncPeriod: time.Second, Process: func(any, bool) error { return nil },
			WatchErrorHandler: func(*Reflector, error) { recorded++ },
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c.RunWithContext(ctx)
		require.Zero(t, recorded)
	})
}

type refusesResyncs struct{ Queue }

func (refusesResyncs) Resync() error { return errors.New("no resync here") }
