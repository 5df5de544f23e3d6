package informer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// B23: invalid options are rejected with an error.
func TestContract_B23_BadInputIsASentinel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("1")
		h := rig.Idle{}
		named := func(name string) indexer.Index[*corev1.Pod] {
			return indexer.Index[*corev1.Pod]{Name: name, Append: func(v []string, _ *corev1.Pod) []string { return v }}
		}
		for want, i := range map[error]*informer.Informer[*corev1.Pod]{
			informer.ErrNoSource:    informer.New[*corev1.Pod](reflector.Source{}, informer.Options[*corev1.Pod]{}),
			informer.ErrOutOfRange:  informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Resync: -1}),
			indexer.ErrIndexInvalid: informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{{Name: "x"}}}),
			indexer.ErrIndexExists:  informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{named("x"), named("x")}}),
		} {
			require.ErrorIs(t, i.Run(t.Context()), want)
			require.ErrorIs(t, i.WaitSynced(t.Context()), want)
			_, err := i.Handle(h, informer.HandlerOptions{})
			require.ErrorIs(t, err, want)
			require.Zero(t, i.Indexer().Len(), "it may be read all the same")
			i.Status()
			list, err := i.Lister().List(nil)
			require.NoError(t, err)
			require.Empty(t, list)
		}
		for want, o := range map[string]informer.Options[*corev1.Pod]{
			"Resync is -1s":                        {Resync: -time.Second},
			"MinWatchTimeout is -1ns":              {MinWatchTimeout: -1},
			"StreamPatience is -1ns":               {StreamPatience: -1},
			"ListPatience is -1ns":                 {ListPatience: -1},
			"PageSize is -1":                       {PageSize: -1},
			"the budget of Storage.Decoded is -10": {Storage: informer.Storage{Decoded: informer.NewBudget(-10)}},
		} {
			err := informer.New(rig.SourceOf(s), o).Run(t.Context())
			require.ErrorIs(t, err, informer.ErrOutOfRange)
			require.EqualError(t, err, "informer *v1.Pod: "+want+": out of range")
		}
		nameless := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{named("")}})
		require.ErrorIs(t, nameless.Run(t.Context()), indexer.ErrIndexInvalid)

		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		var none informer.HandlerFunc[*corev1.Pod]
		for _, nothing := range []informer.Handler[*corev1.Pod]{nil, none, informer.Funcs[*corev1.Pod]{}} {
			_, err := i.Handle(nothing, informer.HandlerOptions{})
			require.ErrorIs(t, err, informer.ErrNoHandler, "%T", nothing)
		}
		_, err := i.Handle(h, informer.HandlerOptions{Name: "h", Delivery: 7})
		require.ErrorIs(t, err, informer.ErrOutOfRange)
		require.EqualError(t, err, `informer *v1.Pod: handler "h": Delivery is 7: out of range`)
		_, err = i.HandleBatch(func(informer.Batch[*corev1.Pod]) {}, 0, informer.HandlerOptions{})
		require.ErrorIs(t, err, informer.ErrOutOfRange)
		require.ErrorContains(t, err, "the size of a batch is 0")
		_, err = i.HandleBatch(nil, 1, informer.HandlerOptions{})
		require.ErrorIs(t, err, informer.ErrNoHandler)
		_, err = i.HandleKeys(nil, informer.HandlerOptions{})
		require.ErrorIs(t, err, informer.ErrNoHandler)
		_, err = i.HandleKeys(func(indexer.Key) {}, informer.HandlerOptions{Delivery: 7})
		require.ErrorIs(t, err, informer.ErrOutOfRange)
		_, err = i.Indexer().Lookup("nope", "x")
		require.ErrorIs(t, err, indexer.ErrUnknownIndex)
		require.ErrorIs(t, i.AddIndexes(named(indexer.NamespaceIndex)), indexer.ErrIndexExists)
		require.ErrorIs(t, i.AddIndexes(indexer.Index[*corev1.Pod]{}), indexer.ErrIndexInvalid)
		require.ErrorIs(t, i.AddIndexes(named("")), indexer.ErrIndexInvalid)

		stop := rig.Start(t, i)
		require.ErrorIs(t, i.Run(t.Context()), informer.ErrRunning)
		require.ErrorIs(t, i.SetTransform(nil), informer.ErrRunning)
		stop()
		require.ErrorIs(t, i.Run(t.Context()), informer.ErrStopped)
		require.ErrorIs(t, i.SetTransform(nil), informer.ErrStopped)
		_, err = i.Handle(h, informer.HandlerOptions{})
		require.ErrorIs(t, err, informer.ErrStopped)
		_, err = i.HandleKeys(func(indexer.Key) {}, informer.HandlerOptions{})
		require.ErrorIs(t, err, informer.ErrStopped)
		require.True(t, kit.Closed(i.Done()))
	})
}

// D18: of several concurrent calls of Run one runs, and the others return ErrRunning.
func TestContract_D18_OfTwoRunsOneRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 8)
		for range 8 {
			go func() { results <- i.Run(ctx) }()
		}
		for range 7 {
			require.ErrorIs(t, <-results, informer.ErrRunning)
		}
		require.NoError(t, i.WaitSynced(t.Context()))
		cancel()
		require.NoError(t, <-results)
	})
}

// sourceWithoutContext is a source whose lists or watches ignore their contexts.
type sourceWithoutContext struct {
	rig.Script
	lists, watches bool
	wake           chan struct{}
}

func (d *sourceWithoutContext) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if d.lists {
		<-d.wake
	}
	return d.Script.List(ctx, o)
}

func (d *sourceWithoutContext) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if d.watches {
		<-d.wake
	}
	return d.Script.Watch(ctx, o)
}

func TestContract_D8_RunReturnsThoughTheSourceDoesNot(t *testing.T) {
	for _, d := range []*sourceWithoutContext{{lists: true}, {watches: true}, {}} {
		synctest.Test(t, func(t *testing.T) {
			d.Set("10", kit.Pod("a", "1"))
			d.wake = make(chan struct{})
			i := informer.New(rig.SourceOf(d), informer.Options[*corev1.Pod]{Observe: rig.Observed})
			stop := rig.Start(t, i)
			began := time.Now()
			stop()
			require.LessOrEqual(t, time.Since(began), 100*time.Millisecond)
			objects := i.Status().Objects
			close(d.wake) // the abandoned call returns, and its result is dropped
			synctest.Wait()
			require.Equal(t, objects, i.Status().Objects)
		})
	}
}

// D10, D19: every error of a list or watch is observed and shows in Status, and WaitSynced and
// WaitDelivered return why they have failed.
func TestContract_D10_D19_ErrorsShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forbidden := errors.New("forbidden")
		s := rig.NewScript("10", kit.Pod("a", "1"))
		s.Fail(forbidden)
		seen := rig.NewEvents()
		i, _ := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Observe: seen.Observe})
		st := i.Status()
		require.True(t, st.Running && !st.Synced && !st.Watching && !st.Stopped)
		require.Zero(t, st.Staleness)
		require.ErrorIs(t, st.LastError, forbidden)
		require.Equal(t, 1, st.Errors)
		why := errors.New("the test's patience")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second/2, why)
		defer cancel()
		err := i.WaitSynced(ctx)
		require.ErrorIs(t, err, informer.ErrNotSynced)
		require.ErrorIs(t, err, why)
		require.ErrorIs(t, err, forbidden)
		err = i.WaitDelivered(ctx, "10")
		require.ErrorIs(t, err, why)
		require.ErrorIs(t, err, forbidden)
		failures := rig.Of[reflector.Failed](seen)
		require.Len(t, failures, 1)

		s.Fail(nil)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.NoError(t, i.WaitSynced(ctx), "also with a context that has ended")
		synctest.Wait()
		st = i.Status()
		require.True(t, st.Watching)
		require.Equal(t, time.Now(), st.WatchingSince)
		require.Equal(t, time.Now(), st.Confirmed)
		time.Sleep(time.Minute)
		require.Equal(t, time.Minute, i.Status().Staleness)
		bookmark := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "15"}}
		s.Send(watch.Bookmark, bookmark)
		synctest.Wait()
		st = i.Status()
		require.Equal(t, "15", st.Version)
		require.Equal(t, time.Now(), st.Confirmed)
		require.Zero(t, st.Staleness)
		time.Sleep(time.Second)
		s.Send(watch.Added, kit.Pod("b", "16"))
		synctest.Wait()
		require.Equal(t, time.Now(), i.Status().LastEvent)
		require.Equal(t, 1, i.Status().Errors)
		s.Expire() // an error in the stream
		synctest.Wait()
		require.Equal(t, 2, i.Status().Errors)
		require.Len(t, i.Status().Handlers, 1)
		require.True(t, i.Status().Handlers[0].Synced)
	})
}

func TestContract_D33_WaitDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		results := make(chan error, 3)
		for _, version := range []string{"9", "12", "99"} {
			go func() { results <- i.WaitDelivered(t.Context(), version) }()
		}
		synctest.Wait()
		stop := rig.Start(t, i)
		require.NoError(t, <-results)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.Empty(t, results)
		s.Send(watch.Modified, kit.Pod("a", "12"))
		require.NoError(t, <-results)
		require.ErrorIs(t, i.WaitDelivered(t.Context(), "nonsense"), informer.ErrVersion)
		require.NoError(t, i.WaitDelivered(t.Context(), ""), "there is nothing to compare")
		stop()
		require.ErrorIs(t, <-results, informer.ErrStopped)
		require.NoError(t, i.WaitDelivered(t.Context(), "12"), "what is there is there")
	})
}

func TestWaitSyncedReturnsThatTheInformerStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("1")
		s.Fail(rig.ErrPoison)
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		rig.Start(t, i)()
		err := i.WaitSynced(t.Context())
		require.ErrorIs(t, err, informer.ErrStopped)
		require.ErrorIs(t, err, rig.ErrPoison)
		st := i.Status()
		require.True(t, st.Stopped && !st.Running && !st.Watching)
	})
}

// A run whose context has ended before the run begins still waits for the goroutines of its
// sources.
func TestARunThatIsOverBeforeItBegins(t *testing.T) {
	for range 100 {
		i := informer.Join([]reflector.Source{rig.SourceOf(rig.NewScript("5")), rig.SourceOf(rig.NewScript("5"))}, informer.Options[*corev1.Pod]{Observe: rig.Observed})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		require.NoError(t, wait())
		require.False(t, i.Status().Running)
	}
}
