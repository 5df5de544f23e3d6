package factory

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Scope restricts the objects of an acquired informer. The zero Scope holds the same objects as
// the factory's own informer of the type.
type Scope struct {
	// Namespaces are the namespaces to watch, each with requests of its own. Without any, the
	// informer watches the factory's namespaces. In a factory of one namespace, only that
	// namespace is allowed.
	Namespaces []string
	// Labels and Fields are selectors in the API server's syntax; "" selects all objects.
	Labels, Fields string
}

// Lease is the right to use an informer. The informer runs while there are leases on it.
type Lease[T informer.Object] struct {
	informer *informer.Informer[T]
	release  func()
	awaitRun func(context.Context) error // waits for the next run, if the informer has stopped
}

// Informer returns the informer. Handlers added through it, or through its Shared, end with the
// lease. Callers must not use it after Release.
func (l *Lease[T]) Informer() *informer.Informer[T] { return l.informer }

// WaitFresh waits until a read of the store is as new as a read from the server at the moment of the
// call. An informer that is acquired again is synced at once, with the objects it held when it stopped;
// WaitFresh waits for the current state. If the informer has
// stopped, WaitFresh waits for its next run, until Release or Shutdown; if it has not run yet, for its first
// run, until ctx ends. It returns the errors of [informer.Informer.WaitFresh].
func (l *Lease[T]) WaitFresh(ctx context.Context) error {
	if err := l.awaitRun(ctx); err != nil {
		return err
	}
	return l.informer.WaitFresh(ctx)
}

// Release ends the lease and removes its handlers. The informer stops with the last release, unless
// For or an accessor has returned it too. A second call does nothing.
func (l *Lease[T]) Release() { l.release() }

// Acquire returns a lease on the informer of a type and a scope. With the first lease the
// informer starts, if the factory has been started. It stops with the last release, when every
// context given to Start has ended, or with Shutdown.
//
// Handlers belong to the lease through which they were added, and end with it; handlers added
// through the result of [For] or of an accessor stay. When the informer is acquired again, or
// after the next Start, it continues from its stored objects, with a watch from there if its
// source is a server. It is synced at once, and [Lease.WaitFresh] waits for the current state. Until
// it runs, a lease takes handlers of both APIs.
// The factory drops the informer and its objects when it has not been used for a time, see
// [WithRetention].
//
// If the informer is about to stop, Acquire waits for the stop. The caller must not hold a lock
// that the informer's Observe, transform or index functions wait for.
//
// It returns [ErrUnknownKind], [ErrScope], [ErrForeign] or [ErrShutdown].
func Acquire[T informer.Object](f *Factory, s Scope) (*Lease[T], error) {
	return newLease[T](&f.common, reflect.TypeFor[T](), s)
}

// newLease is Acquire for every kind of factory.
func newLease[T informer.Object, K comparable](c *common[K], id K, s Scope) (l *Lease[T], err error) {
	e, ready, err := c.acquireEntry(id, s, func(e *entry) error {
		_, err := typed[T](e)
		return err
	})
	if err != nil {
		return nil, err
	}
	await(ready)
	i, _ := typed[T](e) // cannot fail: acquireEntry has checked the type
	lent, end := i.Lend()
	released := make(chan struct{})
	return &Lease[T]{
		informer: lent,
		release: sync.OnceFunc(func() {
			close(released)
			end()
			c.release(e)
		}),
		awaitRun: func(ctx context.Context) error { return c.awaitRun(ctx, e, released) },
	}, nil
}

// acquireEntry adds a user to the informer of a scope, and creates the informer if there is none.
// It returns the error of fits, if the informer does not fit.
func (c *common[K]) acquireEntry(id K, s Scope, fits func(*entry) error) (e *entry, ready <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.unlock()

	k, err := c.known(id)
	if err != nil {
		return nil, nil, err
	}
	only, err := s.resolve(k, c.namespace)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%v: %w", id, err)
	case c.shutDown:
		return nil, nil, ErrShutdown
	}
	e = c.enter(key[K]{id, only.text}, c.maker(id, k, Scope{only.namespaces, s.Labels, s.Fields}, only))
	if err := fits(e); err != nil {
		return nil, nil, err
	}
	return e, c.acquire(e), nil
}

// selection is a scope in a resolved form.
type selection struct {
	text       string // canonical: equal scopes have equal texts; "" for the factory's own scope
	namespaces []string
	tweak      func(*metav1.ListOptions)
}

// resolve checks a scope against a kind and the namespace of the factory, which is "" for all.
func (s Scope) resolve(k kind, within string) (selection, error) {
	byLabels, err := labels.Parse(s.Labels)
	if err != nil {
		return selection{}, fmt.Errorf("%w: labels %q: %w", ErrScope, s.Labels, err)
	}
	byFields, err := fields.ParseSelector(s.Fields)
	if err != nil {
		return selection{}, fmt.Errorf("%w: fields %q: %w", ErrScope, s.Fields, err)
	}
	if len(s.Namespaces) > 0 && !k.namespaced {
		return selection{}, fmt.Errorf("%w: %v has no namespaces", ErrScope, k.resource.GroupResource())
	}
	names := slices.Sorted(slices.Values(s.Namespaces))
	for i, name := range names {
		switch {
		case name == "" || i > 0 && names[i-1] == name:
			return selection{}, fmt.Errorf("%w: namespace %q is empty or given twice", ErrScope, name)
		case within != "" && name != within:
			return selection{}, fmt.Errorf("%w: namespace %q, in a factory of namespace %q", ErrScope, name, within)
		}
	}
	if within != "" {
		names = nil // the factory's namespace applies anyway
	}
	if len(names) == 0 && byLabels.Empty() && byFields.Empty() {
		return selection{}, nil
	}
	return selection{
		text:       fmt.Sprintf("%q %q %q", names, byLabels, byFields),
		namespaces: names,
		tweak: func(o *metav1.ListOptions) {
			o.LabelSelector = joinSelectors(o.LabelSelector, byLabels.String())
			o.FieldSelector = joinSelectors(o.FieldSelector, byFields.String())
		},
	}, nil
}

// clone returns a copy that shares no memory with s.
func (s Scope) clone() Scope {
	s.Namespaces = slices.Clone(s.Namespaces)
	return s
}

// joinSelectors returns a selector for the objects that match both a and b.
func joinSelectors(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}
