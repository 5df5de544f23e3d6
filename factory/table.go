package factory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/report"
)

// table holds the informers of a factory and runs their state machine ([state]). No goroutine
// waits for an informer while it holds mu, and no function of a user's runs under mu: makers of
// informers are called and errors are logged without it.
type table[K comparable] struct {
	mu        sync.Mutex
	entries   map[key[K]]*entry
	making    map[key[K]]chan struct{} // the informers being made; closed when they are
	retention time.Duration            // how long an unused informer is kept; negative: forever
	starts    starts
	shutDown  bool           // Shutdown was called
	runs      sync.WaitGroup // running informers
	refusals  []refusal      // to be logged by unlock
	changed   chan struct{}  // closed when a run begins or the factory is shut down; nil if nobody waits
}

// key identifies an informer of a factory.
type key[K comparable] struct {
	kind  K      // a type or a resource
	scope string // canonical text of the scope: equal scopes have equal texts; "" for the factory's own scope
}

// refusal is an error of a run or Start that could not begin.
type refusal struct {
	ctx     context.Context
	err     error
	message string
}

// refuse logs an error once mu is released. The caller holds mu.
func (t *table[K]) refuse(ctx context.Context, err error, message string) {
	t.refusals = append(t.refusals, refusal{ctx, err, message})
}

// unlock releases mu, and then logs the errors since it was locked: a user's logger may call the
// factory.
func (t *table[K]) unlock() {
	refusals := t.refusals
	t.refusals = nil
	t.mu.Unlock()
	for _, r := range refusals {
		klog.FromContext(r.ctx).Error(r.err, r.message)
	}
}

// enter returns the entry of a key, and creates it if there is none. The caller holds mu. enter
// releases mu while makeEntry runs, or while another caller makes the same entry.
func (t *table[K]) enter(k key[K], makeEntry func() *entry) *entry {
	for {
		if e, ok := t.entries[k]; ok {
			return e
		}
		made, ok := t.making[k]
		if !ok {
			return t.make(k, makeEntry)
		}
		t.unlock()
		<-made
		t.mu.Lock()
	}
}

// make creates the entry of a key. makeEntry may panic or end its goroutine, since it may call a
// user's constructor: then there is no entry.
func (t *table[K]) make(k key[K], makeEntry func() *entry) (e *entry) {
	made := make(chan struct{})
	t.making[k] = made
	defer func() {
		delete(t.making, k)
		close(made)
		if e == nil {
			return
		}
		t.entries[k] = e
		e.drop = func() {
			e.cancelDrop()
			if t.entries[k] == e {
				delete(t.entries, k)
			}
		}
	}()
	t.unlock()
	defer t.mu.Lock() // first of all, also after a panic
	return makeEntry()
}

// pin marks an informer as requested: the factory keeps it forever. The caller holds mu, and
// waits for ready after it has released mu.
func (t *table[K]) pin(e *entry) (ready <-chan struct{}) {
	if e.pin == unpinned {
		e.pin = due
		if e.hasStopped != nil && e.state != refused { // it has been run
			t.hold(e)
		}
		t.step(e, asked)
	}
	return t.ready(e)
}

// acquire adds a user to an informer. The caller holds mu, and waits for ready after it has
// released mu.
func (t *table[K]) acquire(e *entry) (ready <-chan struct{}) {
	e.users++
	t.hold(e)
	t.step(e, asked)
	return t.ready(e)
}

// hold lets a pin that waits for its Start keep the informer running until then, under the context
// of the latest Start, though leases are released. The caller holds mu.
func (t *table[K]) hold(e *entry) {
	if e.pin == due && !lives(e.start) && !t.shutDown {
		e.start = t.starts.latest()
	}
}

// release removes a user from an informer.
func (t *table[K]) release(e *entry) {
	t.mu.Lock()
	defer t.unlock()

	e.users--
	t.step(e, left)
}

// ready returns a channel that is closed when an informer that is about to stop runs again. It
// returns nil if there is nothing to wait for.
func (t *table[K]) ready(e *entry) <-chan struct{} {
	if e.state == stopping && t.wanted(e) && !t.shutDown {
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

// awaitRun waits until an informer that has stopped, or is about to, runs again. It returns early
// if the factory is shut down or released is closed, and an error if ctx ends.
func (t *table[K]) awaitRun(ctx context.Context, e *entry, released <-chan struct{}) error {
	for {
		t.mu.Lock()
		between := e.state != created && e.state != running && e.state != refused && !t.shutDown
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.unlock()
		if !between {
			return nil
		}
		select {
		case <-changed:
		case <-released:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("the informer does not run: %w: %w", informer.ErrNotSynced, context.Cause(ctx))
		}
	}
}

// wakeWaiters wakes the callers of awaitRun. The caller holds mu.
func (t *table[K]) wakeWaiters() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// alive reports whether leased informers may run. The caller holds mu.
func (t *table[K]) alive() bool { return !t.shutDown && t.starts.latest() != nil }

// wanted reports whether an informer should run: it is pinned, and the context of its pin lives; or
// somebody leases it, and any context given to Start lives. The caller holds mu.
func (t *table[K]) wanted(e *entry) bool { return lives(e.start) || e.users > 0 && t.alive() }

// start begins the runs that wait for a Start, and counts them in runs before it returns.
func (t *table[K]) start(ctx context.Context) {
	t.mu.Lock()
	defer t.unlock()

	if t.shutDown {
		t.refuse(ctx, ErrShutdown, "The factory starts nothing")
		return
	}
	t.starts.add(ctx)
	for _, e := range t.entries {
		if e.pin == due || e.pin == exited {
			e.pin, e.start = started, ctx
			t.step(e, pinStarted)
		} else {
			t.step(e, asked)
		}
	}
}

// shutdown ends the informers that are only leased. The caller waits for all runs to end.
func (t *table[K]) shutdown() {
	t.mu.Lock()
	defer t.unlock()

	t.shutDown = true
	t.wakeWaiters()
	t.endUnwanted()
}

// contextEnds is called when a context given to Start has ended.
func (t *table[K]) contextEnds() {
	t.mu.Lock()
	defer t.unlock()

	t.endUnwanted()
}

// endUnwanted ends the runs of the informers that should not run any more. The caller holds mu.
func (t *table[K]) endUnwanted() {
	for _, e := range t.entries {
		t.step(e, left)
	}
}

// step makes one transition of an informer's state and performs its action. The caller holds mu.
func (t *table[K]) step(e *entry, c call) {
	var do action
	e.state, do = e.state.after(c, facts{wanted: t.wanted(e), shutDown: t.shutDown})
	switch do {
	case doRun:
		t.run(e)
	case doCancel:
		e.cancel()
	case doNothing:
	}
	if t.shutDown {
		e.retire()
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
		defer t.unlock()

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
// runs it. The run's context has the values of the pin's Start or, without one, of the latest. The
// table ends it: a run outlives the context of one Start if it is wanted because of another. The
// caller holds mu.
func (t *table[K]) run(e *entry) {
	start := e.start
	if latest := t.starts.latest(); !lives(start) && latest != nil {
		start = latest
	}
	if start == nil { // the last context has ended just now, and contextEnds comes
		start = context.Background()
	}
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(start))
	e.hasStopped = make(chan struct{})
	t.runs.Add(1)
	t.starts.watch(t.contextEnds)
	var exit error
	err := e.begin(ctx, informer.RunOptions{
		ReuseNothing: e.reuseNothing,
		Stopped: func(err error) {
			exit = err
			t.stopped(e, err)
		},
		Returned: func() {
			defer t.runs.Done()
			if exit != nil {
				report.Error(start, exit, "The informer has stopped")
			}
		},
	})
	e.failed = err
	if err != nil {
		t.runs.Done()
		t.refuse(start, err, "The factory does not run the informer")
		close(e.hasStopped)
		t.endRun(e)
		e.start = nil
		t.step(e, runRefused)
		t.wakeWaiters()
		return
	}
	e.reuseNothing = false
	t.wakeWaiters()
}

// stopped is called when a run of an informer has stopped. err is that of a user's function that has
// ended the run, or nil.
func (t *table[K]) stopped(e *entry, err error) {
	t.mu.Lock()
	defer t.unlock()

	ready := e.hasStopped
	defer close(ready) // last: waiting callers must find the informer running again
	e.failed = err
	if e.state == running {
		e.start = nil // it stopped by itself: the run for its pin is over
		if err != nil && e.pin == started {
			e.pin = exited
		}
	}
	t.endRun(e)
	t.step(e, runStopped)
}

// endRun releases the resources of a run. The caller holds mu.
func (t *table[K]) endRun(e *entry) {
	e.cancel()
	t.starts.unwatch()
}

// synced waits until the pinned informers that were started are synced, or ctx ends. It returns
// which of them are synced and, if an informer is not, the context's cause or the reason why its run could
// not begin, or has ended by itself.
func (t *table[K]) synced(ctx context.Context) (synced map[K]bool, err error) {
	begun := make(map[K]*entry)
	t.mu.Lock()
	for k, e := range t.entries {
		if e.ran() {
			begun[k.kind] = e
		}
	}
	t.unlock()

	synced = make(map[K]bool, len(begun))
	for kind, e := range begun {
		ended := t.awaitSynced(ctx, e)
		if synced[kind] = e.shared.HasSynced(); !synced[kind] {
			err = ended
		}
	}
	return synced, err
}

// awaitSynced waits until an informer is synced, or will not be: ctx ends, or the informer's run cannot begin or
// ends by itself. An informer that the user runs, or that has been stopped, is waited for.
func (t *table[K]) awaitSynced(ctx context.Context, e *entry) error {
	synced := e.shared.HasSyncedChecker()
	var ended <-chan struct{} // the run that has ended
	for {
		t.mu.Lock()
		hasStopped, failed := e.hasStopped, e.failed
		t.unlock()
		switch {
		case failed != nil && !errors.Is(failed, informer.ErrRunning):
			return failed
		case hasStopped == ended: // and no other one has begun
			cache.WaitFor(ctx, "", synced)
			return context.Cause(ctx)
		}
		ended = hasStopped
		select {
		case <-synced.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-hasStopped:
		}
	}
}
