package factory

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
)

// table holds the informers of a factory and moves each of them through its life.
// Nobody waits for an informer with mu held.
type table[K comparable] struct {
	mu      sync.Mutex
	entries map[key[K]]*entry
	keep    time.Duration // how long an informer that nobody uses is kept; negative for ever
	starts  starts
	down    bool           // Shutdown was called
	runs    sync.WaitGroup // of the informers that the factory runs
}

// key tells the informers of a factory apart.
type key[K comparable] struct {
	kind  K      // a type or a resource
	scope string // spelled so that equal scopes are spelled alike; "" for all that the factory has of the kind
}

// enter returns the entry of a key, made if there is none. The caller holds mu.
func (t *table[K]) enter(k key[K], made func() *entry) *entry {
	e, ok := t.entries[k]
	if !ok {
		e = made()
		e.drop = func() {
			e.keep()
			if t.entries[k] == e {
				delete(t.entries, k)
			}
		}
		t.entries[k] = e
	}
	return e
}

// pin takes note of somebody who has asked for an informer, which stays for ever. The
// caller holds mu, and waits for what is returned when it does not any more.
func (t *table[K]) pin(e *entry) (ready <-chan struct{}) {
	t.look(e)
	if !e.pinned {
		e.pinned = true
		t.step(e, pinAdded, nil)
	}
	return t.ready(e, e.state == stopping || e.state == restarting)
}

// acquire adds a user of an informer. The caller holds mu, and waits for what is
// returned when it does not any more.
func (t *table[K]) acquire(e *entry) (ready <-chan struct{}) {
	t.look(e)
	e.users++
	t.step(e, leaseAcquired, nil)
	return t.ready(e, e.state.again())
}

// release takes a user of an informer away.
func (t *table[K]) release(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.look(e)
	if e.users--; e.users == 0 {
		t.step(e, lastReleased, nil)
	}
}

// ready returns a channel that is closed once an informer runs again that is about to
// stop, nil where there is nothing to wait for.
func (t *table[K]) ready(e *entry, again bool) <-chan struct{} {
	if again && t.alive() {
		return e.hasStopped
	}
	return nil
}

// await waits for an informer that pin or acquire wants to be waited for.
func await(ready <-chan struct{}) {
	if ready != nil {
		<-ready
	}
}

// alive tells whether leased informers run. The caller holds mu.
func (t *table[K]) alive() bool { return !t.down && t.starts.some() }

// start runs what waits for it, and counts it.
func (t *table[K]) start(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.down {
		klog.FromContext(ctx).Error(ErrShutdown, "The factory starts nothing")
		return
	}
	t.expire()
	t.starts.add(ctx)
	for _, e := range t.entries {
		t.look(e)
		t.step(e, startCalled, ctx)
	}
}

// shutdown waits for all runs to end. It ends those that are leased only.
func (t *table[K]) shutdown() {
	t.mu.Lock()
	t.down = true
	for _, e := range t.entries {
		if !e.pinned {
			t.step(e, contextEnded, nil)
		}
	}
	t.mu.Unlock()
	t.runs.Wait()
}

// contextEnds is called when a context that Start was given has ended.
func (t *table[K]) contextEnds() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.expire()
}

// expire ends the runs that last until all contexts have ended, if they have. The
// caller holds mu.
func (t *table[K]) expire() {
	if t.starts.some() {
		return
	}
	for _, e := range t.entries {
		if e.leased {
			t.step(e, contextEnded, nil)
		}
	}
}

// look takes note of the end of a run's context, should that have ended meanwhile. The
// caller holds mu.
func (t *table[K]) look(e *entry) {
	t.expire()
	if e.state == running && e.ctx.Err() != nil {
		t.step(e, contextEnded, nil)
	}
}

// step lets something happen to an informer: Start with a context, say. The caller
// holds mu.
func (t *table[K]) step(e *entry, c call, start context.Context) {
	var do action
	was := e.state
	e.state, do = was.after(c, facts{pinned: e.pinned, used: e.users > 0, alive: t.alive()})
	switch do {
	case doRun:
		t.run(e, start)
	case doLease:
		e.leased = true
		t.starts.watch(t.contextEnds)
		t.run(e, t.starts.values())
	case doCancel:
		e.cancel()
	case doNothing:
	}
	t.tend(e)
}

// tend drops an informer that nobody uses any more, at once or in a while, unless
// somebody acquires it before. The caller holds mu.
func (t *table[K]) tend(e *entry) {
	switch unused := e.unused(); {
	case !unused:
		e.keep()
	case unused && t.keep == 0:
		e.drop()
	case unused && t.keep > 0 && e.forgetting == nil:
		t.forget(e)
	}
}

// forget drops an informer in a while, unless it is used before. The caller holds mu.
func (t *table[K]) forget(e *entry) {
	var timer *time.Timer
	timer = time.AfterFunc(t.keep, func() {
		t.mu.Lock()
		defer t.mu.Unlock()

		if e.forgetting == timer {
			e.drop()
		}
	})
	e.forgetting = timer
}

// dropStopped drops an informer that nobody uses, and that would only be started by the
// next Start: it takes no handlers of client-go's API until then, and another one does.
// The caller holds mu.
func (t *table[K]) dropStopped(at key[K]) {
	if e, ok := t.entries[at]; ok && e.unused() && e.state == stopped && !t.alive() {
		e.drop()
	}
}

// run runs an informer. Where that cannot run, or is run by its user, it says so to the
// log. The caller holds mu.
func (t *table[K]) run(e *entry, ctx context.Context) {
	e.ctx, e.cancel = context.WithCancel(ctx)
	e.hasStopped = make(chan struct{})
	t.runs.Add(1)
	err := e.begin(e.ctx, informer.RunOptions{
		Anew:     e.anew,
		Stopped:  func() { t.stopped(e) },
		Returned: t.runs.Done,
	})
	if err != nil {
		t.runs.Done()
		klog.FromContext(ctx).Error(err, "The factory does not run the informer")
		t.over(e)
		t.step(e, runRefused, nil)
		return
	}
	e.anew = false
}

// stopped is called when a run of an informer has stopped.
func (t *table[K]) stopped(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()

	ready := e.hasStopped
	defer close(ready) // at last: who waits finds the informer running again
	t.look(e)
	t.over(e)
	t.step(e, runStopped, nil)
}

// over lets go of what belongs to a run. The caller holds mu.
func (t *table[K]) over(e *entry) {
	e.cancel()
	if e.leased {
		e.leased = false
		t.starts.unwatch()
	}
}

// synced waits until the informers that run for their pins are synced, or ctx ends,
// and tells which are.
func (t *table[K]) synced(ctx context.Context) (synced map[K]bool, err error) {
	started := make(map[K]cache.SharedIndexInformer)
	t.mu.Lock()
	for k, e := range t.entries {
		if e.pinned && e.state.ran() {
			started[k.kind] = e.shared
		}
	}
	t.mu.Unlock()

	synced = make(map[K]bool, len(started))
	for kind, shared := range started {
		cache.WaitFor(ctx, "", shared.HasSyncedChecker())
		if synced[kind] = shared.HasSynced(); !synced[kind] {
			err = context.Cause(ctx)
		}
	}
	return synced, err
}
