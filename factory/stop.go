package factory

import (
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/informer"
)

// StopInformer stops the informer of a type and a scope. The informer keeps its handlers, and its
// store stays readable. Only [RestartInformer] lets it run again. If nobody has requested or
// acquired it, the factory drops it after the retention time, see [WithRetention]; a later
// Acquire then makes a new informer, which runs.
//
// It returns [ErrUnknownKind], [ErrScope], [ErrNoInformer], [ErrForeign], or [informer.ErrRunning] if
// the user runs the informer.
func StopInformer[T informer.Object](f *Factory, s Scope) error {
	return f.stopOrRestart(reflect.TypeFor[T](), s, stopAsked)
}

// RestartInformer makes the informer of a type and a scope read all objects again, trusting none
// in its store. It is meant for a program that has, say, changed cached objects by mistake. The
// informer stops, keeps its handlers, and runs again. The objects that it then reads replace those in
// the store, and its handlers get them as updates. Until then the store stays unchanged;
// [Lease.WaitFresh] waits for the new objects. An informer that was stopped runs again if somebody has requested or
// acquired it and the factory was started.
//
// RestartInformer returns when the previous run has stopped. The informer's Observe, transform
// and index functions must not call it, nor wait for a lock that its caller holds; handlers may.
//
// It returns the errors of [StopInformer].
func RestartInformer[T informer.Object](f *Factory, s Scope) error {
	return f.stopOrRestart(reflect.TypeFor[T](), s, restartAsked)
}

// stopOrRestart stops or restarts one informer. It waits until the run of a restart has begun;
// otherwise a caller that then waits for the current state would see the previous run.
func (c *common[K]) stopOrRestart(id K, s Scope, what call) error {
	ready, err := c.beginStopOrRestart(id, s, what)
	await(ready)
	return err
}

// beginStopOrRestart is stopOrRestart without waiting: the caller waits for ready.
func (c *common[K]) beginStopOrRestart(id K, s Scope, what call) (ready <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.unlock()

	k, err := c.known(id)
	if err != nil {
		return nil, err
	}
	only, err := s.resolve(k, c.namespace)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", id, err)
	}
	e, ok := c.entries[key[K]{id, only.text}]
	if !ok {
		return nil, fmt.Errorf("%v: %w", id, ErrNoInformer)
	}
	ours, ok := informer.SharedOf(e.shared)
	switch {
	case !ok:
		return nil, fmt.Errorf("%v: %w", id, ErrForeign)
	case !e.state.inRun() && runs(ours):
		return nil, fmt.Errorf("%v is run by hand: %w", id, informer.ErrRunning)
	}
	return c.single(e, what), nil
}

// runs reports whether an informer runs, whoever has begun the run.
func runs(i informer.Shared) bool {
	s := i.Status()
	return s.Running && !s.Stopped
}

// single stops or restarts one informer. A restart allows one more run for the pin, if the context
// of its Start has ended. The caller holds mu, and waits for ready after it has released mu.
func (t *table[K]) single(e *entry, what call) (ready <-chan struct{}) {
	hasRun := e.hasStopped != nil
	if what == restartAsked && (hasRun || e.state == halted) {
		e.reuseNothing = hasRun
		if e.pin != unpinned && !lives(e.start) {
			e.pin = due
		}
		t.hold(e)
	}
	t.step(e, what)
	return t.ready(e)
}
