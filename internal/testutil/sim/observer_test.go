package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// pollStatus reads the status of the informer and its handlers n times at random moments, while the
// world continues.
func (w *world) pollStatus(r *rand.Rand, n int) {
	if w.mutant.skipsStatus {
		return
	}
	pauses := make([]time.Duration, n)
	for i := range pauses {
		pauses[i] = time.Duration(r.IntN(int(500 * time.Millisecond)))
	}
	i := w.informer
	w.observers.Go(func() {
		var before informer.Status
		for _, pause := range pauses {
			time.Sleep(pause)
			before = w.pollOnce(i, before)
		}
	})
}

// pollOnce reads an informer's status and compares it with an earlier one.
func (w *world) pollOnce(i *informer.Informer[*pod], before informer.Status) informer.Status {
	st := w.statusOf(i)
	switch {
	case st.LastEvent.Before(before.LastEvent):
		w.fault("looked", "the last event moved from %v to %v", before.LastEvent, st.LastEvent)
	case st.Watching == st.WatchingSince.IsZero():
		w.fault("looked", "the status says watching %v since %v", st.Watching, st.WatchingSince)
	}
	for _, h := range st.Handlers {
		if h.Backlog < 0 {
			w.fault("looked", "the backlog of %s is %d", h.Name, h.Backlog)
		}
	}
	return st
}

// statusOf returns an informer's status, as the mutant changes it.
func (w *world) statusOf(i *informer.Informer[*pod]) informer.Status {
	st := i.Status()
	if w.mutant.status != nil {
		w.mutant.status(&st)
	}
	return st
}

// expectRunningUntil checks that the status of a stopping informer says Running until the end.
func (w *world) expectRunningUntil(ended <-chan struct{}) {
	if !w.lease && !kit.Closed(ended) && !w.statusOf(w.informer).Running {
		w.fault("running", "the status does not say Running while a handler's call is in progress")
	}
}

// stoppedStatusWrong checks that the status of a stopped informer says so, and does not show the state
// of its sources.
func stoppedStatusWrong(w *world) (problems []string) {
	if st := w.statusOf(w.informer); !w.lease && (st.Running || !st.Stopped) || st.Watching || !st.WatchingSince.IsZero() {
		problems = append(problems, fmt.Sprintf("the status says running %v, stopped %v, watching %v since %v", st.Running, st.Stopped, st.Watching, st.WatchingSince))
	}
	return problems
}

// relistUnchanged makes every source list objects that the cache already has. Handlers must get no
// events, and LastEvent must not change.
func (w *world) relistUnchanged() {
	if !w.running || w.blank {
		return
	}
	w.settle()
	w.catchesUp()
	if w.failed() {
		return
	}
	w.reach("operation", relistUnchanged)
	time.Sleep(time.Second)
	synctest.Wait()
	before, calls := w.informer.Status(), map[*handler]int64{}
	for _, a := range w.presentHandlers() {
		calls[a] = a.calls.Load()
	}
	w.relistAll()
	after := w.statusOf(w.informer)
	if !after.LastEvent.Equal(before.LastEvent) {
		w.fault("nothing new", "a list of known objects moves the last event from %v to %v", before.LastEvent, after.LastEvent)
	}
	for _, a := range w.presentHandlers() {
		if n := a.calls.Load() - calls[a] + w.mutant.extraCalls; n != 0 && a.resync == 0 {
			w.fault("nothing new", "%v gets %d changes from a list of known objects", a, n)
		}
	}
}

// relistAll makes every source relist, and waits for the lists.
func (w *world) relistAll() {
	before, began := map[*source]int{}, time.Now()
	for _, s := range w.sources {
		before[s] = s.fullStates()
	}
	for {
		left := 0
		for _, s := range w.sources {
			if s.fullStates() == before[s] {
				left++
				s.expireWatches()
			}
		}
		if left == 0 {
			return
		}
		synctest.Wait()
		if time.Since(began) > settleTimeHalfOpen {
			w.fault("relists", "%d sources are not listed again after %v", left, settleTimeHalfOpen)
			return
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
}

// Reading the status has no effect: a world has the same trace with and without readers.
func TestLookingChangesNothing(t *testing.T) {
	tier.SkipRaced(t)
	looked := 0
	for seed := range uint64(60) {
		p := newPlan(seed)
		with := run(t, p, mutant{})
		require.Equal(t, run(t, p, mutant{skipsStatus: true, looksAway: true}).trace, with.trace, "world %d", seed)
		looked += with.reached["operation "+string(pollStatus)]
	}
	require.Positive(t, looked)
}
