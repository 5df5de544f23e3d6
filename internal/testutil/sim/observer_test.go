package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer"
)

// looks lets somebody ask n times how the informer and its handlers are doing, at
// moments of the step's choice, while the world goes on.
func (w *world) looks(r *rand.Rand, n int) {
	if w.sabotage.blind {
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
			before = w.asksStatus(i, before)
		}
	})
}

// asksStatus compares what an informer says of itself with what it said before.
func (w *world) asksStatus(i *informer.Informer[*pod], before informer.Status) informer.Status {
	st := w.statusOf(i)
	switch {
	case st.LastEvent.Before(before.LastEvent):
		w.fault("looked", "the last event was at %v, and then at %v", before.LastEvent, st.LastEvent)
	case st.Watching == st.WatchingSince.IsZero():
		w.fault("looked", "it is watching: %v, since %v", st.Watching, st.WatchingSince)
	}
	for _, h := range st.Handlers {
		if h.Backlog < 0 {
			w.fault("looked", "the backlog of %s is %d", h.Name, h.Backlog)
		}
	}
	return st
}

// statusOf returns what an informer says of itself, or what the sabotage makes of it.
func (w *world) statusOf(i *informer.Informer[*pod]) informer.Status {
	st := i.Status()
	if w.sabotage.status != nil {
		w.sabotage.status(&st)
	}
	return st
}

// runsUntil looks at an informer that was told to stop: it is running until that
// has ended.
func (w *world) runsUntil(ended <-chan struct{}) {
	if !w.lease && !closed(ended) && !w.statusOf(w.informer).Running {
		w.fault("running", "the informer is said not to run while a handler is in a call")
	}
}

// stoppedTells: an informer that has stopped says so, and nothing of its sources is
// as it was in the run.
func stoppedTells(w *world) (problems []string) {
	if st := w.statusOf(w.informer); !w.lease && (st.Running || !st.Stopped) || st.Watching || !st.WatchingSince.IsZero() {
		problems = append(problems, fmt.Sprintf("it is running %v, stopped %v, watching %v since %v", st.Running, st.Stopped, st.Watching, st.WatchingSince))
	}
	return problems
}

// listsAgain lets every source list again what the cache holds: this is no event, and
// nothing is told.
func (w *world) listsAgain() {
	if !w.running || w.blank {
		return
	}
	w.settles()
	w.catchesUp()
	if w.failed() {
		return
	}
	w.reach("deed", again)
	time.Sleep(time.Second)
	synctest.Wait()
	before, calls := w.informer.Status(), map[*actor]int64{}
	for _, a := range w.here() {
		calls[a] = a.calls.Load()
	}
	w.relists()
	after := w.statusOf(w.informer)
	if !after.LastEvent.Equal(before.LastEvent) {
		w.fault("nothing new", "the last event was at %v, and a list of what is known makes it %v", before.LastEvent, after.LastEvent)
	}
	for _, a := range w.here() {
		if n := a.calls.Load() - calls[a] + w.sabotage.calls; n != 0 && a.resync == 0 {
			w.fault("nothing new", "%v is told %d changes by a list of what is known", a, n)
		}
	}
}

// relists makes every source list anew, and waits until it has.
func (w *world) relists() {
	before, began := map[*source]int{}, time.Now()
	for _, s := range w.sources {
		before[s] = s.fullStates()
	}
	for {
		left := 0
		for _, s := range w.sources {
			if s.fullStates() == before[s] {
				left++
				s.expires()
			}
		}
		if left == 0 {
			return
		}
		synctest.Wait()
		if time.Since(began) > late {
			w.fault("relists", "%d sources are not listed again after %v", left, late)
			return
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
}

// Reading changes nothing: a world is the same whether anybody asks the informer how
// it is doing or not.
func TestLookingChangesNothing(t *testing.T) {
	looked := 0
	for seed := range uint64(60) {
		p := newPlan(seed)
		with := run(t, p, sabotage{})
		require.Equal(t, run(t, p, sabotage{blind: true}).trace, with.trace, "world %d", seed)
		looked += with.reached["deed "+string(look)]
	}
	require.Positive(t, looked)
}
