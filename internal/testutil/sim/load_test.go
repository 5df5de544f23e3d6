package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
)

// removeHandlerInBurst lets a handler leave in the middle of a burst. What it is told of
// that is the scheduler's to decide, and how long a call of it takes must not be.
func (w *world) removeHandlerInBurst(r *rand.Rand) {
	var quick []*handler
	for _, a := range w.presentHandlers() {
		if a.slow == 0 {
			quick = append(quick, a)
		}
	}
	if len(quick) == 0 {
		return
	}
	w.reach("operation", leaveInBurst)
	a := quick[r.IntN(len(quick))]
	a.untraced.Store(true)
	w.writeBurst(r, 10)
	w.removeHandler(a)
	w.writeBurst(r, 10)
}

// addHandlerBetweenRuns lets a handler join between the end of one run and the next.
func (w *world) addHandlerBetweenRuns(k kind) {
	if !w.running || w.lease {
		return
	}
	w.stopInformer()
	if len(w.presentHandlers()) < 10 && w.addHandler(k, true) != nil {
		w.reach("operation", joinBetweenRuns)
	}
	w.startInformer()
}

// trickleWrites makes changes a few milliseconds apart, in the midst of slow calls and of
// resyncs, with somebody asking the informer how it is doing: of all objects, or of one.
func (w *world) trickleWrites(r *rand.Rand, n int) {
	of := w.setup
	if r.IntN(2) == 0 {
		of.names = 1
	}
	if restless := kindNamed("restless latest"); r.IntN(2) == 0 && len(w.presentHandlers()) < 10 && w.addHandler(restless, true) != nil {
		w.writeBurst(r, 3)
	}
	for range n {
		w.send(w.model.randomChange(r, of))
		time.Sleep(time.Duration(1+r.IntN(40)) * time.Millisecond)
		synctest.Wait()
		if ask := r.IntN(2) == 0; ask && !w.mutant.skipsStatus {
			w.pollOnce(w.informer, informer.Status{})
		}
	}
}

// waiter is somebody who waits until the handlers have been told what was published
// when he began to wait.
type waiter struct {
	returned chan struct{}
	err      error
	handlers map[*handler]int64 // those of then, with their calls when they had been told; -1 before
	key      key                // of the last change that was published
	mark     mark
}

// grace is how many calls a handler may be from having been told of one object to having
// been told all that was published: other sources may have brought more behind it and,
// with Latest, all objects may be pending, in the order of their first events.
func (w *world) grace(d informer.Delivery) int64 {
	if d == informer.Latest {
		return int64(w.parts*w.names) + 3
	}
	return 20
}

// awaitDelivery lets somebody wait until all that is published was delivered. More keeps
// coming meanwhile, which he does not wait for.
func (w *world) awaitDelivery(r *rand.Rand) {
	if !w.running || w.blank || w.zones > 0 || !closed(w.informer.Synced()) {
		return
	}
	w.addHandler(kindNamed("exits latest"), true)
	w.writeBurst(r, 5)
	c := w.model.randomChange(r, w.setup)
	w.send(c)
	if c.gone || poisonous(c.pod) {
		return
	}
	time.Sleep(time.Millisecond)
	synctest.Wait()
	if stored, ok := w.informer.Indexer().Get(keyOf(c.pod)); !ok || markOf(stored) != markOf(c.pod) {
		return // something is in the way
	}
	w.reach("operation", awaitDelivery)
	wait := w.startWaiter(keyOf(c.pod), markOf(c.pod))
	looking := true
	for range 200 { // however soon the handlers are told, which is the scheduler's to decide
		synctest.Wait()
		switch {
		case !looking:
		case closed(wait.returned), wait.stuck():
			looking = false
		case wait.delivered():
			w.reportLateWaiter(wait)
			looking = false
		}
		w.send(w.model.randomChange(r, w.setup))
		time.Sleep(10 * time.Millisecond)
	}
}

// startWaiter begins to wait.
func (w *world) startWaiter(k key, m mark) *waiter {
	wait := &waiter{returned: make(chan struct{}), handlers: map[*handler]int64{}, key: k, mark: m}
	for _, a := range w.presentHandlers() {
		wait.handlers[a] = -1
	}
	w.waiters = append(w.waiters, wait)
	i := w.informer
	go func() {
		defer close(wait.returned)
		wait.err = i.WaitDelivered(context.Background(), i.Indexer().Version())
		if w.mutant.waitsForever {
			<-w.over
		}
	}()
	return wait
}

// delivered tells whether every handler has been told, some calls ago, or has ended.
func (wait *waiter) delivered() bool {
	all := true
	for a, since := range wait.handlers {
		a.mu.Lock()
		told := !a.newest[wait.key].before(wait.mark)
		a.mu.Unlock()
		calls := a.calls.Load()
		if told && since < 0 {
			since = calls
			wait.handlers[a] = since
		}
		idle := told && !a.busy.Load()
		all = all && (idle || closed(a.reg.Done()) || told && calls-since > a.w.grace(a.delivery))
	}
	return all
}

// stuck tells whether one of the handlers has to be freed first.
func (wait *waiter) stuck() bool {
	for a := range wait.handlers {
		if a.blocks && a.busy.Load() {
			return true
		}
	}
	return false
}

// reportLateWaiter says that somebody waits in vain.
func (w *world) reportLateWaiter(wait *waiter) {
	why := "for what comes later, too"
	for a := range wait.handlers {
		if closed(a.reg.Done()) && a.exited.Load() > 0 {
			why = "for a handler that has ended its goroutine"
		}
	}
	w.fault("await", "all has been delivered, and who waits for that still does: %s", why)
}

// awaited: when nothing is left to deliver, or the informer has stopped, nobody waits.
func awaited(w *world) (problems []string) {
	for _, wait := range w.waiters {
		switch {
		case !closed(wait.returned):
			problems = append(problems, fmt.Sprintf("somebody still waits for %v@%v", wait.key, wait.mark))
		case wait.err != nil && (w.running || !errors.Is(wait.err, informer.ErrStopped)):
			problems = append(problems, wait.err.Error())
		}
	}
	w.waiters = nil
	return problems
}
