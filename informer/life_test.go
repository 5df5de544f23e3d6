package informer

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
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// B23: invalid options are rejected with an error.
func TestContract_B23_BadInputIsASentinel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("1")
		h := HandlerFunc[*corev1.Pod](forget[*corev1.Pod])
		named := func(name string) indexer.Index[*corev1.Pod] {
			return indexer.Index[*corev1.Pod]{Name: name, Append: func(v []string, _ *corev1.Pod) []string { return v }}
		}
		for want, i := range map[error]*Informer[*corev1.Pod]{
			ErrNoSource:             New[*corev1.Pod](reflector.Source{}, Options[*corev1.Pod]{}),
			ErrOutOfRange:           New(sourceOf(s), Options[*corev1.Pod]{Resync: -1}),
			indexer.ErrIndexInvalid: New(sourceOf(s), Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{{Name: "x"}}}),
			indexer.ErrIndexExists:  New(sourceOf(s), Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{named("x"), named("x")}}),
		} {
			require.ErrorIs(t, i.Run(t.Context()), want)
			require.ErrorIs(t, i.WaitSynced(t.Context()), want)
			_, err := i.Handle(h, HandlerOptions{})
			require.ErrorIs(t, err, want)
			require.Zero(t, i.Indexer().Len(), "it may be read all the same")
			i.Status()
			list, err := i.Lister().List(nil)
			require.NoError(t, err)
			require.Empty(t, list)
		}
		for want, o := range map[string]Options[*corev1.Pod]{
			"Resync is -1s":                        {Resync: -time.Second},
			"MinWatchTimeout is -1ns":              {MinWatchTimeout: -1},
			"StreamPatience is -1ns":               {StreamPatience: -1},
			"ListPatience is -1ns":                 {ListPatience: -1},
			"PageSize is -1":                       {PageSize: -1},
			"the budget of Storage.Decoded is -10": {Storage: Storage{Decoded: NewBudget(-10)}},
		} {
			err := New(sourceOf(s), o).Run(t.Context())
			require.ErrorIs(t, err, ErrOutOfRange)
			require.EqualError(t, err, "informer *v1.Pod: "+want+": out of range")
		}
		nameless := New(sourceOf(s), Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{named("")}})
		require.ErrorIs(t, nameless.Run(t.Context()), indexer.ErrIndexInvalid)

		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
		var none HandlerFunc[*corev1.Pod]
		for _, nothing := range []Handler[*corev1.Pod]{nil, none, Funcs[*corev1.Pod]{}} {
			_, err := i.Handle(nothing, HandlerOptions{})
			require.ErrorIs(t, err, ErrNoHandler, "%T", nothing)
		}
		_, err := i.Handle(h, HandlerOptions{Name: "h", Delivery: 7})
		require.ErrorIs(t, err, ErrOutOfRange)
		require.EqualError(t, err, `informer *v1.Pod: handler "h": Delivery is 7: out of range`)
		_, err = i.HandleBatch(func(Batch[*corev1.Pod]) {}, 0, HandlerOptions{})
		require.ErrorIs(t, err, ErrOutOfRange)
		require.ErrorContains(t, err, "the size of a batch is 0")
		_, err = i.HandleBatch(nil, 1, HandlerOptions{})
		require.ErrorIs(t, err, ErrNoHandler)
		_, err = i.HandleKeys(nil, HandlerOptions{})
		require.ErrorIs(t, err, ErrNoHandler)
		_, err = i.HandleKeys(func(indexer.Key) {}, HandlerOptions{Delivery: 7})
		require.ErrorIs(t, err, ErrOutOfRange)
		_, err = i.Indexer().Lookup("nope", "x")
		require.ErrorIs(t, err, indexer.ErrUnknownIndex)
		require.ErrorIs(t, i.AddIndexes(named(indexer.NamespaceIndex)), indexer.ErrIndexExists)
		require.ErrorIs(t, i.AddIndexes(indexer.Index[*corev1.Pod]{}), indexer.ErrIndexInvalid)
		require.ErrorIs(t, i.AddIndexes(named("")), indexer.ErrIndexInvalid)

		stop := start(t, i)
		require.ErrorIs(t, i.Run(t.Context()), ErrRunning)
		require.ErrorIs(t, i.SetTransform(nil), ErrRunning)
		stop()
		require.ErrorIs(t, i.Run(t.Context()), ErrStopped)
		require.ErrorIs(t, i.SetTransform(nil), ErrStopped)
		_, err = i.Handle(h, HandlerOptions{})
		require.ErrorIs(t, err, ErrStopped)
		_, err = i.HandleKeys(func(indexer.Key) {}, HandlerOptions{})
		require.ErrorIs(t, err, ErrStopped)
		require.True(t, kit.Closed(i.Done()))
	})
}

func TestMisuseIsToldByWhatComesNext(t *testing.T) {
	i := newShared(nil, &corev1.Pod{}, 0, nil)
	_, err := i.AddEventHandler((&kit.Recorder{}).Handler())
	require.ErrorIs(t, err, ErrNoSource)
	i.Run(nil) // logs and returns
	require.ErrorIs(t, i.SetTransform(nil), ErrNoSource)
	require.ErrorIs(t, i.AddIndexers(nil), ErrNoSource)
	require.ErrorIs(t, i.(*clientgoInformer).core.Status().LastError, ErrNoSource)
}

// D18: of several concurrent calls of Run one runs, and the others return ErrRunning.
func TestContract_D18_OfTwoRunsOneRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(sourceOf(newScript("1")), Options[*corev1.Pod]{Observe: observed})
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 8)
		for range 8 {
			go func() { results <- i.Run(ctx) }()
		}
		for range 7 {
			require.ErrorIs(t, <-results, ErrRunning)
		}
		require.NoError(t, i.WaitSynced(t.Context()))
		cancel()
		require.NoError(t, <-results)
	})
}

// sourceWithoutContext is a source whose lists or watches ignore their contexts.
type sourceWithoutContext struct {
	script
	lists, watches bool
	wake           chan struct{}
}

func (d *sourceWithoutContext) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if d.lists {
		<-d.wake
	}
	return d.script.List(ctx, o)
}

func (d *sourceWithoutContext) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if d.watches {
		<-d.wake
	}
	return d.script.Watch(ctx, o)
}

func TestContract_D8_RunReturnsThoughTheSourceDoesNot(t *testing.T) {
	for _, d := range []*sourceWithoutContext{{lists: true}, {watches: true}, {}} {
		synctest.Test(t, func(t *testing.T) {
			d.Set("10", kit.Pod("a", "1"))
			d.wake = make(chan struct{})
			i := New(sourceOf(d), Options[*corev1.Pod]{Observe: observed})
			stop := start(t, i)
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
		s := newScript("10", kit.Pod("a", "1"))
		s.Fail(forbidden)
		seen := newEvents()
		i, _ := startWithJournal(t, s, Options[*corev1.Pod]{Observe: seen.observe})
		st := i.Status()
		require.True(t, st.Running && !st.Synced && !st.Watching && !st.Stopped)
		require.Zero(t, st.Staleness)
		require.ErrorIs(t, st.LastError, forbidden)
		require.Equal(t, 1, st.Errors)
		why := errors.New("the test's patience")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second/2, why)
		defer cancel()
		err := i.WaitSynced(ctx)
		require.ErrorIs(t, err, ErrNotSynced)
		require.ErrorIs(t, err, why)
		require.ErrorIs(t, err, forbidden)
		err = i.WaitDelivered(ctx, "10")
		require.ErrorIs(t, err, why)
		require.ErrorIs(t, err, forbidden)
		failures := of[reflector.Failed](seen)
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
		require.Equal(t, time.Now(), st.LastBookmark)
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
		s := newScript("10", kit.Pod("a", "1"))
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
		results := make(chan error, 3)
		for _, version := range []string{"9", "12", "99"} {
			go func() { results <- i.WaitDelivered(t.Context(), version) }()
		}
		synctest.Wait()
		stop := start(t, i)
		require.NoError(t, <-results)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.Empty(t, results)
		s.Send(watch.Modified, kit.Pod("a", "12"))
		require.NoError(t, <-results)
		require.ErrorIs(t, i.WaitDelivered(t.Context(), "nonsense"), ErrVersion)
		require.NoError(t, i.WaitDelivered(t.Context(), ""), "there is nothing to compare")
		stop()
		require.ErrorIs(t, <-results, ErrStopped)
		require.NoError(t, i.WaitDelivered(t.Context(), "12"), "what is there is there")
	})
}

func TestWaitSyncedTellsThatTheInformerStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("1")
		s.Fail(errPoison)
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
		start(t, i)()
		err := i.WaitSynced(t.Context())
		require.ErrorIs(t, err, ErrStopped)
		require.ErrorIs(t, err, errPoison)
		st := i.Status()
		require.True(t, st.Stopped && !st.Running && !st.Watching)
	})
}

// A run whose context has ended before the run begins still waits for the goroutines of its
// sources.
func TestARunThatIsOverBeforeItBegins(t *testing.T) {
	for range 100 {
		i := Join([]reflector.Source{sourceOf(newScript("5")), sourceOf(newScript("5"))}, Options[*corev1.Pod]{Observe: observed})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		require.NoError(t, wait())
		require.False(t, i.Status().Running)
	}
}

// starts runs an informer. cancel ends the run, and wait returns after its end.
func starts(t *testing.T, i *Informer[*corev1.Pod]) (cancel func(), wait func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended, err := i.Start(ctx)
	require.NoError(t, err)
	wait = func() { require.NoError(t, ended()) }
	t.Cleanup(func() { cancel(); wait() })
	synctest.Wait()
	return cancel, wait
}
