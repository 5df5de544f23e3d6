package conformance_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
)

// halfAMinute keeps tests that sleep for whole minutes away from the ticks.
const halfAMinute = 30 * time.Second

// B76, B73, B85: a resync tells the due handlers each object as an update to
// itself, asks the server nothing, and transforms nothing.
func TestContract_B73_B76_B85_AResync(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1"), pod("b", "2")), settings{resync: time.Minute})
		transforms := 0
		require.NoError(t, w.transform(func(obj any) (any, error) { transforms++; return obj, nil }))
		due, _ := w.records()
		later, _ := w.records(10 * time.Minute)
		w.start()
		due.take()
		later.take()
		time.Sleep(time.Minute + halfAMinute)
		require.Equal(t, []string{"update a@1 a@1", "update b@2 b@2"}, due.sorted())
		require.Empty(t, later.take())
		time.Sleep(time.Minute)
		require.Len(t, due.take(), 2)
		time.Sleep(8 * time.Minute)
		require.Len(t, due.take(), 16)
		require.Len(t, later.take(), 2)
		require.Equal(t, 2, transforms)
		lists, _ := w.requests()
		require.Equal(t, 1, lists)
	})
}

// B73, T8: what the server says goes to everybody, due or not.
func TestContract_B73_T8_ChangesAreForEverybody(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")), settings{resync: time.Minute})
		due, _ := w.records()
		later, _ := w.records(10 * time.Minute)
		w.start()
		time.Sleep(time.Minute + halfAMinute)
		due.take()
		later.take()
		w.send(watch.Modified, pod("a", "11"))
		require.Equal(t, []string{"update a@1 a@11"}, due.take())
		require.Equal(t, []string{"update a@1 a@11"}, later.take())
	})
}

// T8: also an event whose version is that of before, which client-go takes for
// a resync.
func TestContract_T8_B73_EventsOfOneVersionBetweenResyncs(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, newScript("", pod("a", "")), settings{resync: time.Minute})
		w.records()
		later, _ := w.records(10 * time.Minute)
		w.start()
		time.Sleep(time.Minute + halfAMinute)
		later.take()
		w.send(watch.Modified, pod("a", "", label("n", "1")))
		require.Equal(t, []string{"update a@ a@"}, later.take())
	})
}

// B75, T12: periods are a second at least; the shortest one before the start
// is the shortest of all; without one of the informer's own there are none.
func TestContract_B75_T12_Periods(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")), settings{resync: time.Hour})
		early, _ := w.records(time.Millisecond)
		w.start()
		early.take()
		late, _ := w.records(time.Millisecond)
		late.take()
		time.Sleep(10*time.Second + 500*time.Millisecond)
		require.Len(t, early.take(), 10)
		require.InDelta(t, 10, len(late.take()), 1)
	})
	face(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")), settings{resync: time.Minute})
		early, _ := w.records()
		w.start()
		early.take()
		late, _ := w.records(time.Second)
		late.take()
		time.Sleep(10*time.Minute + halfAMinute)
		require.Len(t, early.take(), 10)
		require.InDelta(t, 10, len(late.take()), 1, "raised to the shortest of before")
	})
	face(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		rec, _ := w.records(time.Second)
		w.start()
		rec.take()
		time.Sleep(time.Hour)
		w.stop()
		for _, line := range rec.take() {
			require.NotEqual(t, "update a@1 a@1", line)
		}
	})
}

// B76, B75: a handler that wants no resyncs gets none.
func TestContract_B76_AHandlerWithoutResyncs(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")), settings{resync: time.Minute})
		due, _ := w.records()
		never, _ := w.records(0)
		w.start()
		never.take()
		time.Sleep(time.Hour)
		require.NotEmpty(t, due.take())
		require.Empty(t, never.take())
	})
}

// D11, B65: resyncs go on while nothing else does.
func TestContract_D11_B65_ResyncsDuringAnOutage(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")), settings{resync: time.Minute})
		w.errors()
		rec, _ := w.records()
		w.start()
		rec.take()
		w.fail(errors.New("on purpose"))
		w.relist()
		rec.take()
		time.Sleep(10*time.Minute + halfAMinute)
		require.Len(t, rec.take(), 10)
	})
}
