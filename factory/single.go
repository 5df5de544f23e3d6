package factory

import (
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/informer"
)

// StopInformer stops one informer of a factory: that of a type and a scope. It keeps its
// handlers, its store stays readable, and nothing but [RestartInformer] lets it run again.
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
// it or uses it, and the factory was started.
//
// It returns the errors of [StopInformer].
func RestartInformer[T informer.Object](f *Factory, s Scope) error {
	return f.tell(reflect.TypeFor[T](), s, restartAsked)
}

// tell lets one informer be stopped or restarted.
func (c *common[K]) tell(id K, s Scope, what call) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	k, err := c.known(id)
	if err != nil {
		return err
	}
	only, err := s.resolve(k, c.namespace)
	if err != nil {
		return fmt.Errorf("%v: %w", id, err)
	}
	e, ok := c.entries[key[K]{id, only.text}]
	if !ok {
		return fmt.Errorf("%v: %w", id, ErrNoInformer)
	}
	if _, ours := informer.SharedOf(e.shared); !ours {
		return fmt.Errorf("%v: %w", id, ErrForeign)
	}
	c.look(e)
	e.anew = e.anew || what == restartAsked && e.state != created
	c.step(e, what, nil)
	return nil
}
