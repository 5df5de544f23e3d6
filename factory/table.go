package factory

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/report"
)

// table holds the informers of a factory, and begins and ends their runs ([state]). No goroutine
// waits for an informer while it holds mu, and no function of a user's runs under mu: makers of
// informers are called and errors are logged without it.
type table[K comparable] struct {
	mu       sync.Mutex
	entries  map[key[K]]*entry
	making   map[key[K]]chan struct{} // the informers being made; closed when they are
	starts   []context.Context        // given to Start, in the order of the latest call for each; see addStart
	shutDown bool                     // Shutdown was called
	runs     sync.WaitGroup           // runs of informers, also of those that have left the table
}

// key identifies an informer of a factory.
type key[K comparable] struct {
	kind  K      // a type or a resource
	scope string // canonical text of the scope: equal scopes have equal texts; "" for the factory's own scope
}

// enter returns the entry of a key. It creates one if there is none, or if the one in the table is to be
// replaced. The caller holds mu. enter releases mu while makeEntry runs, or while another caller makes the
// same entry.
func (t *table[K]) enter(k key[K], replaced func(use, state) bool, makeEntry func() *entry) *entry {
	for {
		if e, ok := t.entries[k]; ok && !replaced(e.use, e.state()) {
			return e
		}
		ready, ok := t.making[k]
		if !ok {
			return t.make(k, makeEntry)
		}
		t.mu.Unlock()
		<-ready
		t.mu.Lock()
	}
}

// make creates the entry of a key. makeEntry may panic or end its goroutine, since it may call a
// user's constructor: then there is no entry.
func (t *table[K]) make(k key[K], makeEntry func() *entry) (e *entry) {
	ready := make(chan struct{})
	t.making[k] = ready
	defer func() {
		delete(t.making, k)
		close(ready)
		if e == nil {
			return
		}
		t.entries[k] = e
		e.drop = func() {
			if t.entries[k] == e {
				delete(t.entries, k)
			}
		}
	}()
	t.mu.Unlock()
	defer t.mu.Lock() // first of all, also after a panic
	return makeEntry()
}

// lives reports whether a context given to Start has not ended. It returns false for nil.
func lives(ctx context.Context) bool { return ctx != nil && ctx.Err() == nil }

// latestStart returns the last of the contexts that have not ended, or nil if all have. The caller holds mu.
func (t *table[K]) latestStart() context.Context {
	for _, ctx := range slices.Backward(t.starts) {
		if lives(ctx) {
			return ctx
		}
	}
	return nil
}

// addStart adds a context and removes those that have ended or end together with it: a program may
// call Start with the same context or channel any number of times. The caller holds mu.
func (t *table[K]) addStart(ctx context.Context) {
	t.starts = slices.DeleteFunc(t.starts, func(known context.Context) bool {
		return known.Err() != nil || known.Done() == ctx.Done()
	})
	t.starts = append(t.starts, ctx)
}

// lease adds a user to an informer, and begins it if it is the first use since a Start. The caller holds mu.
func (t *table[K]) lease(e *entry) {
	e.users++
	if start := t.latestStart(); e.beginsWithLease(e.state(), start != nil) {
		t.begin(e, start)
	}
}

// release removes a user from an informer.
func (t *table[K]) release(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if e.users--; e.unused() {
		e.drop()
		t.end(e)
	}
}

// start begins the informers that wait for a Start, and counts their runs before it returns. It returns
// ErrShutdown after shutdown.
func (t *table[K]) start(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.shutDown {
		return ErrShutdown
	}
	t.addStart(ctx)
	alive := lives(ctx)
	for _, e := range t.entries {
		is := e.state()
		e.outlived = e.outlived || is == stopped && alive
		if e.beginsWithStart(is, alive) {
			t.begin(e, ctx)
		}
	}
	return nil
}

// shutdown ends the informers that are only leased. The caller waits for all runs to end.
func (t *table[K]) shutdown() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.shutDown = true
	for _, e := range t.entries {
		if !e.requested {
			t.end(e)
		}
	}
}

// begin runs an informer until a context given to Start ends. It logs an error if the informer cannot run. One that its
// user runs is left to the user. The caller holds mu.
func (t *table[K]) begin(e *entry, start context.Context) {
	var run context.Context
	run, e.end = context.WithCancel(start)
	e.start = start
	wait, err := e.begin(run)
	if err != nil {
		// Not here, since a user's logger may call the factory.
		t.runs.Go(func() { klog.FromContext(start).Error(err, "The factory does not run the informer") })
		e.end()
		if e.start = run; errors.Is(err, informer.ErrRunning) {
			e.start = context.Background()
		}
		return
	}
	t.runs.Go(func() {
		defer e.end()
		if err := wait(); err != nil {
			report.Error(start, err, "The informer has stopped")
		}
	})
}

// end ends the run of an informer, if there is one. The caller holds mu.
func (*table[K]) end(e *entry) {
	if e.end != nil {
		e.end()
	}
}

// synced waits until the requested informers that were started are synced, or ctx ends. It returns
// which of them are synced and, if an informer is not, the context's cause or the reason why it does not run,
// or runs no more.
func (t *table[K]) synced(ctx context.Context) (synced map[K]bool, err error) {
	begun := make(map[K]*entry)
	t.mu.Lock()
	for k, e := range t.entries {
		if e.requested && e.start != nil {
			begun[k.kind] = e
		}
	}
	t.mu.Unlock()

	synced = make(map[K]bool, len(begun))
	for kind, e := range begun {
		ended := e.waitSynced(ctx)
		if ended != nil && ctx.Err() != nil {
			ended = context.Cause(ctx)
		}
		if synced[kind] = e.shared.HasSynced(); !synced[kind] {
			err = ended
		}
	}
	return synced, err
}
