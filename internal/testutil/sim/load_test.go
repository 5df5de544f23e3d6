package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// removeHandlerInBurst removes a handler in the middle of a burst. The scheduler decides how many of the
// burst's events the handler still gets. Therefore the handler must have fast calls: the time must not
// depend on their number.
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

// trickleWrites makes changes a few milliseconds apart, during slow calls and resyncs, and reads the
// status in between. It changes all objects, or the same object repeatedly.
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

// waiter is a call of WaitDelivered.
type waiter struct {
	returned chan struct{}
	err      error
	handlers map[*handler]int64 // the handlers at the time of the call, with their number of calls when they got the event; -1 before
	key      key                // the key of the last published change
	mark     mark
}

// grace returns the number of calls between a handler's event of the awaited object and its last awaited
// event. Other sources may have published more. With Latest, all objects may be pending in the order of
// their first events, with two calls for a recreated object.
func (w *world) grace(d informer.Delivery) int64 {
	if d == informer.Latest {
		return 2*int64(w.objectsAtMost()) + 3
	}
	return 20
}

// awaitDelivery starts a waiter while changes continue that it must not wait for.
func (w *world) awaitDelivery(r *rand.Rand) {
	if !w.running || w.blank || w.zones > 0 || !kit.Closed(w.informer.Synced()) {
		return
	}
	w.writeBurst(r, 5)
	c := w.model.randomChange(r, w.setup)
	w.send(c)
	if c.gone || w.fails(c.pod) {
		return
	}
	time.Sleep(time.Millisecond)
	synctest.Wait()
	if stored, ok := w.informer.Indexer().Get(keyOf(c.pod)); !ok || markOf(stored) != markOf(c.pod) {
		return // a fault holds the change
	}
	w.reach("operation", awaitDelivery)
	wait := w.startWaiter(keyOf(c.pod), markOf(c.pod))
	looking := true
	for range 200 { // a fixed number: the scheduler decides when the events are delivered
		synctest.Wait()
		switch {
		case !looking:
		case kit.Closed(wait.returned), wait.stuck():
			looking = false
		case wait.delivered():
			w.fault("await", "everything was delivered, but WaitDelivered has not returned")
			looking = false
		}
		w.send(w.model.randomChange(r, w.setup))
		time.Sleep(10 * time.Millisecond)
	}
}

// startWaiter calls WaitDelivered in a goroutine.
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

// delivered reports whether every handler has ended, or got the awaited event enough calls ago.
func (wait *waiter) delivered() bool {
	all := true
	for a, since := range wait.handlers {
		a.mu.Lock()
		had := !a.newest[wait.key].before(wait.mark)
		a.mu.Unlock()
		calls := a.calls.Load()
		if had && since < 0 {
			since = calls
			wait.handlers[a] = since
		}
		idle := had && !a.busy.Load()
		all = all && (idle || kit.Closed(a.reg.Done()) || had && calls-since > a.w.grace(a.delivery))
	}
	return all
}

// stuck reports whether any of the handlers is blocked.
func (wait *waiter) stuck() bool {
	for a := range wait.handlers {
		if a.blocks && a.busy.Load() {
			return true
		}
	}
	return false
}

// awaited checks that WaitDelivered has returned when everything is delivered, or the informer has
// stopped.
func awaited(w *world) (problems []string) {
	for _, wait := range w.waiters {
		switch {
		case !kit.Closed(wait.returned):
			problems = append(problems, fmt.Sprintf("WaitDelivered still waits for %v@%v", wait.key, wait.mark))
		case wait.err != nil && (w.running || !errors.Is(wait.err, informer.ErrStopped)):
			problems = append(problems, wait.err.Error())
		}
	}
	w.waiters = nil
	return problems
}
