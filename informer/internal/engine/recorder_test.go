package engine

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/reflector"
)

var errBroken = errors.New("broken")

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
	forbidden := reflector.Failed{Operation: reflector.OpList, Class: reflector.ErrorForbidden, Err: errBroken}
	refused := reflector.Failed{Operation: reflector.OpWatch, Class: reflector.ErrorConnection, Err: errBroken}
	absent := reflector.Failed{Operation: reflector.OpList, Class: reflector.ErrorNotServed, Err: errBroken}
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
	s.reflected(1, reflector.NotServed{Err: errBroken})
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
func TestANoteIsRemovedWithItsEvent(t *testing.T) {
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

// A 404 of a list or watch enables streams again, so it removes their note.
func TestTheNoteOfAStreamGoesWithAMissingResource(t *testing.T) {
	s := status{bySource: make([]sourceStatus, 1), applied: make([]atomic.Uint64, 1)}
	s.reflected(0, reflector.StreamRefused{Class: reflector.ErrorNotServed})
	require.Len(t, s.notes(), 1)
	s.reflected(0, reflector.NotServed{})
	require.Empty(t, s.notes())
}
