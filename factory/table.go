package factory

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
)

// table holds the informers of a factory and runs their state machine ([state]). No goroutine
// waits for an informer while it holds mu.
type table[K comparable] struct {
	mu        sync.Mutex
	entries   map[key[K]]*entry
	retention time.Duration // how long an unused informer is kept; negative: forever
	starts    starts
	shutDown  bool           // Shutdown was called
	runs      sync.WaitGroup // running informers
}

// key identifies an informer of a factory.
type key[K comparable] struct {
	kind  K      // a type or a resource
	scope string // canonical text of the scope: equal scopes have equal texts; "" for the factory's own scope
}

// enter returns the entry of a key, and creates it if there is none. The caller holds mu.
func (t *table[K]) enter(k key[K], makeEntry func() *entry) *entry {
	e, ok := t.entries[k]
	if !ok {
		e = makeEntry()
		e.drop = func() {
			e.cancelDrop()
			if t.entries[k] == e {
				delete(t.entries, k)
			}
		}
		t.entries[k] = e
	}
	return e
}

// pin marks an informer as requested: the factory keeps it forever. The caller holds mu, and
// waits for ready after it has released mu.
func (t *table[K]) pin(e *entry) (ready <-chan struct{}) {
	t.observeContext(e)
	if !e.pinned {
		e.pinned = true
		t.step(e, pinAdded, nil)
	}
	return t.ready(e, e.state == stopping || e.state == restarting)
}

// acquire adds a user to an informer. The caller holds mu, and waits for ready after it has
// released mu.
func (t *table[K]) acquire(e *entry) (ready <-chan struct{}) {
	t.observeContext(e)
	e.users++
	t.step(e, leaseAcquired, nil)
	return t.ready(e, e.state.again())
}

// release removes a user from an informer.
func (t *table[K]) release(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.observeContext(e)
	if e.users--; e.users == 0 {
		t.step(e, lastReleased, nil)
	}
}

// ready returns a channel that is closed when an informer that is about to stop runs again. It
// returns nil if there is nothing to wait for.
func (t *table[K]) ready(e *entry, again bool) <-chan struct{} {
	if again && t.alive() {
		return e.hasStopped
	}
	return nil
}

// await waits for a channel that ready returned.
func await(ready <-chan struct{}) {
	if ready != nil {
		<-ready
	}
}

// alive reports whether leased informers may run. The caller holds mu.
func (t *table[K]) alive() bool { return !t.shutDown && t.starts.anyLive() }

// start begins the runs that wait for a Start, and counts them in runs before it returns.
func (t *table[K]) start(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.shutDown {
		klog.FromContext(ctx).Error(ErrShutdown, "The factory starts nothing")
		return
	}
	t.expire()
	t.starts.add(ctx)
	for _, e := range t.entries {
		t.observeContext(e)
		t.step(e, startCalled, ctx)
	}
}

// shutdown ends the informers that are only leased, and waits for all runs to end.
func (t *table[K]) shutdown() {
	t.mu.Lock()
	t.shutDown = true
	for _, e := range t.entries {
		if !e.pinned {
			t.step(e, contextEnded, nil)
		}
	}
	t.mu.Unlock()
	t.runs.Wait()
}

// contextEnds is called when a context given to Start has ended.
func (t *table[K]) contextEnds() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.expire()
}

// expire ends the leased runs if all contexts given to Start have ended. The caller holds mu.
func (t *table[K]) expire() {
	if t.starts.anyLive() {
		return
	}
	for _, e := range t.entries {
		if e.underAll {
			t.step(e, contextEnded, nil)
		}
	}
}

// observeContext checks whether the context of an informer's run has ended, and makes the state
// follow. The caller holds mu.
func (t *table[K]) observeContext(e *entry) {
	t.expire()
	if e.state == running && e.ctx.Err() != nil {
		t.step(e, contextEnded, nil)
	}
}

// step makes one transition of an informer's state and performs its action. start is the context
// given to Start, and nil for other calls. The caller holds mu.
func (t *table[K]) step(e *entry, c call, start context.Context) {
	var do action
	was := e.state
	e.state, do = was.after(c, facts{pinned: e.pinned, used: e.users > 0, alive: t.alive()})
	switch do {
	case doRun:
		t.run(e, start)
	case doRunUnderAll:
		e.underAll = true
		t.starts.watch(t.contextEnds)
		t.run(e, t.starts.values())
	case doCancel:
		e.cancel()
	case doNothing:
	}
	t.updateRetention(e)
}

// updateRetention drops an unused informer, at once or after the retention time. If the informer
// is used, it cancels the drop. The caller holds mu.
func (t *table[K]) updateRetention(e *entry) {
	switch unused := e.unused(); {
	case !unused:
		e.cancelDrop()
	case unused && t.retention == 0:
		e.drop()
	case unused && t.retention > 0 && e.dropTimer == nil:
		t.dropLater(e)
	}
}

// dropLater drops an informer after the retention time, unless it is used before. The caller
// holds mu.
func (t *table[K]) dropLater(e *entry) {
	var timer *time.Timer
	timer = time.AfterFunc(t.retention, func() {
		t.mu.Lock()
		defer t.mu.Unlock()

		if e.dropTimer == timer {
			e.drop()
		}
	})
	e.dropTimer = timer
}

// dropStopped drops an unused informer that only the next Start would start. Until then a stopped
// informer accepts no handlers of client-go's API; a new informer does. The caller holds mu.
func (t *table[K]) dropStopped(at key[K]) {
	if e, ok := t.entries[at]; ok && e.unused() && e.state == stopped && !t.alive() {
		e.drop()
	}
}

// run begins a run of an informer. It logs an error if the informer cannot run, or if the user
// runs it. The caller holds mu.
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
		t.endRun(e)
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
	defer close(ready) // last: waiting callers must find the informer running again
	t.observeContext(e)
	t.endRun(e)
	t.step(e, runStopped, nil)
}

// endRun releases the resources of a run. The caller holds mu.
func (t *table[K]) endRun(e *entry) {
	e.cancel()
	if e.underAll {
		e.underAll = false
		t.starts.unwatch()
	}
}

// synced waits until the pinned informers that were started are synced, or ctx ends. It returns
// which of them are synced, and the context's cause if an informer is not.
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
