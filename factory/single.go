package factory

import (
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/informer"
)

// StopInformer stops one informer of a factory: that of a type and a scope. It keeps its
// handlers, its store stays readable, and nothing but [RestartInformer] lets it run again. One
// that nobody has asked for and nobody uses is dropped in the end like others, see
// [WithRetention]: who acquires it later gets another one, which runs.
//
// It returns [ErrUnknownKind], [ErrScope], [ErrNoInformer], or [ErrForeign].
func StopInformer[T informer.Object](f *Factory, s Scope) error {
	return f.tell(reflect.TypeFor[T](), s, stopAsked)
}

// RestartInformer lets one informer of a factory trust nothing of what it holds, such as
// that of a program that has changed cached objects. It stops, and begins anew: all objects
// are read again, take the place of those that are there, and are told to its handlers,
// which it keeps, as updated. Until they have come the store stays as it is;
// [Lease.WaitFresh] waits for them. An informer that was stopped runs again, if somebody has asked for
// it or uses it, and the factory was started. RestartInformer returns when the run before has
// stopped, so the informer's Observe, transform and index functions must not call it, nor wait
// for a lock that its caller holds; handlers may.
//
// It returns the errors of [StopInformer].
func RestartInformer[T informer.Object](f *Factory, s Scope) error {
	return f.tell(reflect.TypeFor[T](), s, restartAsked)
}

// tell lets one informer be stopped or restarted. It waits for the run that a restart
// begins: who waits for the state of now would otherwise see the run before.
func (c *common[K]) tell(id K, s Scope, what call) error {
	ready, err := c.told(id, s, what)
	await(ready)
	return err
}

// told is tell, but for the waiting.
func (c *common[K]) told(id K, s Scope, what call) (ready <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

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
	if _, ours := informer.SharedOf(e.shared); !ours {
		return nil, fmt.Errorf("%v: %w", id, ErrForeign)
	}
	c.look(e)
	e.anew = e.anew || what == restartAsked && e.state != created
	c.step(e, what, nil)
	return c.ready(e, e.state == restarting), nil
}
