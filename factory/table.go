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

// table holds the informers of a factory, and starts and ends their runs ([state]). While a goroutine holds
// mu, it does not wait for an informer and calls no function of the program. Informers are made and errors
// are logged without mu.
type table[K comparable] struct {
	mu       sync.Mutex
	entries  map[key[K]]*entry
	making   map[key[K]]chan struct{} // the informers being made; a channel is closed when its informer exists
	starts   []context.Context        // the contexts given to Start, by their latest calls; see addStart
	shutDown bool                     // Shutdown was called
	runs     sync.WaitGroup           // runs of informers, including those that have left the table
}

// key identifies an informer of a factory.
type key[K comparable] struct {
	kind  K      // a type or a resource
	scope string // canonical text of the scope: equal scopes have equal texts; "" for the factory's own scope
}

// enter returns the entry of a key. It makes one if there is none, or if the present one is to be replaced.
// The caller holds mu, which enter releases while makeEntry runs, or while another caller makes the same
// entry.
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

// make makes the entry of a key. makeEntry may call a caller's constructor, which may panic or end the
// goroutine. Then make adds no entry.
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
	defer t.mu.Lock() // before the function above, and also after a panic
	return makeEntry()
}

// lives reports whether a context given to Start has not ended. It returns false for nil.
func lives(ctx context.Context) bool { return ctx != nil && ctx.Err() == nil }

// latestStart returns the latest context that has not ended, or nil. The caller holds mu.
func (t *table[K]) latestStart() context.Context {
	for _, ctx := range slices.Backward(t.starts) {
		if lives(ctx) {
			return ctx
		}
	}
	return nil
}

// addStart adds a context, and removes those that have ended or end together with it, because a program may
// call Start with the same context or channel any number of times. The caller holds mu.
func (t *table[K]) addStart(ctx context.Context) {
	t.starts = slices.DeleteFunc(t.starts, func(known context.Context) bool {
		return known.Err() != nil || known.Done() == ctx.Done()
	})
	t.starts = append(t.starts, ctx)
}

// lease adds a user to an informer, and starts it if it has not run and a context given to Start has not
// ended. The caller holds mu.
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

// start starts the informers that wait for a Start, and counts their runs before it returns. After shutdown
// it returns ErrShutdown.
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

// begin runs an informer until a context given to Start ends. It logs an error if the informer cannot run. An
// informer that the program runs itself is left alone. The caller holds mu.
func (t *table[K]) begin(e *entry, start context.Context) {
	var run context.Context
	run, e.end = context.WithCancel(start)
	e.start = start
	wait, err := e.begin(run)
	if err != nil {
		// In a goroutine, because the logger may call the factory.
		t.runs.Go(func() { klog.FromContext(start).Error(err, "The factory cannot run the informer") })
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

// synced waits until the requested informers that were started are synced, or ctx ends. It returns which of
// them are synced. If one is not, the error is the reason why it does not run, or the context's cause.
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
