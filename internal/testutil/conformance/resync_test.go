package conformance_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// halfAMinute keeps tests that sleep for whole minutes away from ticks.
const halfAMinute = 30 * time.Second

// B76, B73, B85: a resync delivers each object as an update from itself, to the handlers whose period
// has passed. It sends no requests and transforms nothing.
func TestContract_B73_B76_B85_AResync(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), settings{resync: time.Minute})
		transforms := 0
		require.NoError(t, w.transform(func(obj any) (any, error) { transforms++; return obj, nil }))
		due, _ := w.addRecorder()
		later, _ := w.addRecorder(10 * time.Minute)
		w.start()
		due.Take()
		later.Take()
		time.Sleep(time.Minute + halfAMinute)
		require.Equal(t, []string{"update a@1 a@1", "update b@2 b@2"}, due.Sorted())
		require.Empty(t, later.Take())
		time.Sleep(time.Minute)
		require.Len(t, due.Take(), 2)
		time.Sleep(8 * time.Minute)
		require.Len(t, due.Take(), 16)
		require.Len(t, later.Take(), 2)
		require.Equal(t, 2, transforms)
		lists, _ := w.Requests()
		require.Equal(t, 1, lists)
	})
}

// B73, T8: events from the server reach all handlers, including between their resyncs.
func TestContract_B73_T8_ChangesAreForEverybody(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Minute})
		due, _ := w.addRecorder()
		later, _ := w.addRecorder(10 * time.Minute)
		w.start()
		time.Sleep(time.Minute + halfAMinute)
		due.Take()
		later.Take()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a@1 a@11"}, due.Take())
		require.Equal(t, []string{"update a@1 a@11"}, later.Take())
	})
}

// T8: an event with the previous version is delivered during resyncs, too. client-go mistakes it for a
// resync.
func TestContract_T8_B73_EventsOfOneVersionBetweenResyncs(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("", kit.Pod("a", "")), settings{resync: time.Minute})
		w.addRecorder()
		later, _ := w.addRecorder(10 * time.Minute)
		w.start()
		time.Sleep(time.Minute + halfAMinute)
		later.Take()
		w.Send(watch.Modified, kit.Pod("a", "", kit.Label("n", "1")))
		require.Equal(t, []string{"update a@ a@"}, later.Take())
	})
}

// B75, T12: a period is at least one second. The shortest period before the start stays the informer's
// shortest. An informer without a period has no resyncs.
func TestContract_B75_T12_Periods(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Hour})
		early, _ := w.addRecorder(time.Millisecond)
		w.start()
		early.Take()
		late, _ := w.addRecorder(time.Millisecond)
		late.Take()
		time.Sleep(10*time.Second + 500*time.Millisecond)
		require.Len(t, early.Take(), 10)
		require.InDelta(t, 10, len(late.Take()), 1)
	})
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Minute})
		early, _ := w.addRecorder()
		w.start()
		early.Take()
		late, _ := w.addRecorder(time.Second)
		late.Take()
		time.Sleep(10*time.Minute + halfAMinute)
		require.Len(t, early.Take(), 10)
		require.InDelta(t, 10, len(late.Take()), 1, "raised to the shortest period before the start")
	})
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder(time.Second)
		w.start()
		rec.Take()
		time.Sleep(time.Hour)
		w.stop()
		for _, line := range rec.Take() {
			require.NotEqual(t, "update a@1 a@1", line)
		}
	})
}

// B75: a negative period of a handler stands for the informer's shortest period, or for no resyncs if
// the informer was made without.
func TestContract_B75_ANegativePeriodIsNoneOfItsOwn(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Minute})
		early, _ := w.addRecorder(-time.Second)
		w.start()
		early.Take()
		late, _ := w.addRecorder(-1)
		late.Take()
		time.Sleep(10*time.Minute + halfAMinute)
		require.Len(t, early.Take(), 10)
		require.InDelta(t, 10, len(late.Take()), 1)
	})
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder(-time.Second)
		w.start()
		require.Equal(t, []string{"initial a@1"}, rec.Take())
		time.Sleep(10 * time.Minute)
		require.Empty(t, rec.Take())
	})
}

// B77: without handlers there are no resyncs, and no resync is delivered later instead.
func TestContract_B77_NoHandlerToResync(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Minute})
		transforms := 0
		require.NoError(t, w.transform(func(obj any) (any, error) { transforms++; return obj, nil }))
		w.start()
		time.Sleep(10*time.Minute + halfAMinute)
		lists, _ := w.Requests()
		require.Equal(t, 1, lists)
		require.Equal(t, 1, transforms)
		late, _ := w.addRecorder()
		require.Equal(t, []string{"initial a@1"}, late.Take())
		time.Sleep(10 * time.Minute)
		require.InDelta(t, 10, len(late.Take()), 1)
	})
}

// B76, B75: a handler without a resync period gets no resyncs.
func TestContract_B76_AHandlerWithoutResyncs(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Minute})
		due, _ := w.addRecorder()
		never, _ := w.addRecorder(0)
		w.start()
		never.Take()
		time.Sleep(time.Hour)
		require.NotEmpty(t, due.Take())
		require.Empty(t, never.Take())
	})
}

// D11, B65: resyncs continue during an outage.
func TestContract_D11_B65_ResyncsDuringAnOutage(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Minute})
		w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Fail(errors.New("on purpose"))
		w.relist()
		rec.Take()
		time.Sleep(10*time.Minute + halfAMinute)
		require.Len(t, rec.Take(), 10)
	})
}
