package informer

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A list without changes does not move Status.LastEvent, but it confirms that the server is there.
func TestLastEventIsTheLastChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10")
		i, _ := startWithJournal(t, s, Options[*corev1.Pod]{})
		require.Zero(t, i.Status().LastEvent, "the first list is empty")
		relists := func(version string, pods ...*corev1.Pod) Status {
			time.Sleep(3 * time.Minute) // so that no back-off is left
			s.Set(version, pods...)
			s.Expire()
			synctest.Wait()
			st := i.Status()
			require.Equal(t, time.Now(), st.Confirmed)
			require.Zero(t, st.Staleness)
			return st
		}
		require.Equal(t, relists("20", kit.Pod("a", "11")).LastEvent, time.Now(), "an add")
		last := time.Now()
		require.Equal(t, relists("30", kit.Pod("a", "11")).LastEvent, last, "nothing")
		require.Equal(t, relists("40", kit.Pod("a", "31")).LastEvent, time.Now(), "an update")
		require.Equal(t, relists("50").LastEvent, time.Now(), "a delete")
		last = time.Now()
		require.Equal(t, relists("60").LastEvent, last, "nothing again")
		time.Sleep(time.Minute)
		s.Send(watch.Added, kit.Pod("a", "61"))
		synctest.Wait()
		require.Equal(t, time.Now(), i.Status().LastEvent)
	})
}

func TestRunningIsTrueUntilRunHasReturned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i, h := New(sourceOf(newScript("10", kit.Pod("a", "1"))), Options[*corev1.Pod]{Observe: observed}), newGated()
		_, err := i.Handle(h, HandlerOptions{})
		require.NoError(t, err)
		require.False(t, i.Status().Running)
		ctx, cancel := context.WithCancel(t.Context())
		returned := make(chan error, 1)
		go func() { returned <- i.Run(ctx) }()
		synctest.Wait()
		require.True(t, i.Status().Running)
		cancel()
		time.Sleep(time.Second)
		require.Empty(t, returned, "it waits for the handler")
		st := i.Status()
		require.True(t, st.Stopped)
		require.True(t, st.Running, "Run has not returned")
		h.open()
		require.NoError(t, <-returned)
		require.False(t, i.Status().Running)
	})
}

// halfSource is a source that answers the first page of a list, and never the second.
type halfSource struct{ *script }

func (h *halfSource) List(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
	if o.Continue != "" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	list, err := h.script.List(ctx, o)
	if err == nil {
		list.(*corev1.PodList).Continue = "more"
	}
	return list, err
}

// A run that ends in the middle of a list keeps none of the list's objects.
func TestNothingOfHalfAStateIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var half ghosts
		i := New[*corev1.Pod](sourceOf(&halfSource{newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))}), Options[*corev1.Pod]{
			PageSize: 2, Observe: observed,
			Transform: func(p *corev1.Pod) (*corev1.Pod, error) { return half.watch(p), nil },
		})
		cancel, wait := starts(t, i)
		require.Len(t, half, 2)
		require.NotNil(t, i.core.states[0].staging)
		cancel()
		wait()
		require.Nil(t, i.core.states[0].staging)
		require.Zero(t, half.left())
		require.Zero(t, i.Status().Objects)
		runtime.KeepAlive(i)
	})
}

// An error may hold megabytes that a server has sent: of the earlier ones only the text is kept.
func TestOneErrorIsKeptWhole(t *testing.T) {
	s := status{bySource: make([]sourceStatus, 1), applied: make([]atomic.Uint64, 1)}
	first := fmt.Errorf("list pods: %w", apierrors.NewBadRequest("the first"))
	for _, err := range []error{first, apierrors.NewBadRequest("the last")} {
		s.reflected(0, reflector.Failed{Operation: reflector.OpList, Class: reflector.ErrorInvalid, Err: err})
	}
	recent := s.recorded().RecentErrors
	require.Len(t, recent, 2)
	require.EqualError(t, recent[0].Err, first.Error())
	require.False(t, apierrors.IsBadRequest(recent[0].Err))
	require.True(t, apierrors.IsBadRequest(recent[1].Err))
}

// An error is failing until a list or watch of the same source has succeeded, and not again while a
// watch is reopened. A source that is not served is not stale.
func TestFailingIsWhatHasFailedLast(t *testing.T) {
	s := status{bySource: make([]sourceStatus, 2), applied: make([]atomic.Uint64, 2), watchLasts: time.Minute}
	failing := func() (classes []reflector.ErrorClass) {
		for _, e := range s.recorded().Failing {
			classes = append(classes, e.Class)
		}
		return classes
	}
	forbidden := reflector.Failed{Operation: reflector.OpList, Class: reflector.ErrorForbidden, Err: errPoison}
	refused := reflector.Failed{Operation: reflector.OpWatch, Class: reflector.ErrorConnection, Err: errPoison}
	absent := reflector.Failed{Operation: reflector.OpList, Class: reflector.ErrorNotServed, Err: errPoison}
	notServed := func() bool { return !s.recorded().NotServedSince.IsZero() }

	s.reflected(0, refused)
	s.reflected(1, forbidden)
	require.Equal(t, []reflector.ErrorClass{reflector.ErrorConnection, reflector.ErrorForbidden}, failing(), "each source")
	s.bySource[0].last.At = time.Now().Add(-time.Hour)
	s.reflected(1, reflector.Failed{Operation: reflector.OpList, Class: reflector.ErrorConnection, Err: reflector.ErrSilent})
	same := s.recorded()
	require.Len(t, same.Failing, 1, "two sources fail alike")
	require.ErrorIs(t, same.Failing[0].Err, reflector.ErrSilent)
	s.reflected(1, forbidden)
	s.reflected(0, reflector.WatchStarted{})
	require.Equal(t, []reflector.ErrorClass{reflector.ErrorForbidden}, failing())
	s.reflected(1, reflector.Listed{Operation: reflector.OpList})
	require.Empty(t, failing())
	s.reflected(0, reflector.WatchEnded{})
	require.Empty(t, failing(), "a watch that is reopened")

	s.reflected(1, absent)
	s.reflected(1, reflector.NotServed{Err: errPoison})
	s.bySource[0].receipts.before, s.bySource[0].opened = time.Now(), time.Now()
	s.bySource[1].receipts = receipts{before: time.Now().Add(-time.Hour)}
	require.True(t, notServed())
	require.Empty(t, failing())
	require.False(t, s.staleLocked(), "nothing is to be heard of it")
	s.reflected(1, forbidden)
	require.False(t, notServed(), "it is there, and forbidden")
	require.Equal(t, []reflector.ErrorClass{reflector.ErrorForbidden}, failing())
	require.True(t, s.staleLocked())
}

// A note of a missing feature goes when the source turns out to have it.
func TestANoteGoesWithWhatItTells(t *testing.T) {
	s := status{bySource: make([]sourceStatus, 2), applied: make([]atomic.Uint64, 2)}
	tell := func() {
		s.reflected(0, reflector.HistoryUnknown{})
		s.reflected(0, reflector.StreamRefused{Reason: "no"})
		s.reflected(1, reflector.StreamRefused{Reason: "not here"})
	}
	tell()
	require.Len(t, s.notes(), 2)
	s.reflected(0, reflector.Listed{Operation: reflector.OpList, Version: "5"})
	require.Equal(t, []string{"the initial state is listed, not streamed: no"}, s.notes())
	s.reflected(0, reflector.Listed{Operation: reflector.OpStream, Version: "7"})
	require.Equal(t, []string{"the initial state is listed, not streamed: not here"}, s.notes())
}
