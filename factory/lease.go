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

// Scope says which objects of a kind an acquired informer holds. The zero
// value is all that the factory's own informer of the type would hold.
type Scope struct {
	// Namespaces are those to watch, each with requests of its own; none for
	// the factory's. A factory of one namespace has no other.
	Namespaces []string
	// Labels and Fields are selectors as the API server takes them; empty for all.
	Labels, Fields string
}

// Lease is the use of an informer that lives only while someone uses it.
type Lease[T informer.Object] struct {
	informer *informer.Informer[T]
	release  func()
}

// Informer returns the informer. The handlers that are added through it, or through its
// Shared, end with the lease. It is not to be used after Release.
func (l *Lease[T]) Informer() *informer.Informer[T] { return l.informer }

// WaitFresh waits until the informer has read all of its source in this run, or all that has
// changed since the run before, and watches it: one that was acquired again is synced from the
// beginning, with what it held when it stopped. It returns the errors of [informer.Informer.WaitFresh].
func (l *Lease[T]) WaitFresh(ctx context.Context) error { return l.informer.WaitFresh(ctx) }

// Release gives the informer back, without the handlers of this lease. With the last
// release it stops. A second call does nothing.
func (l *Lease[T]) Release() { l.release() }

// Acquire returns a lease on the informer of a type and a scope, which starts,
// if the factory has been started, with the first lease and stops with the last
// release, or when every context that Start was given has ended, or with Shutdown.
//
// Handlers belong to the lease through which they were added, and end with it; those that
// were added through what [For] or an accessor returns stay. Acquired again, or after the
// next Start, the informer goes on from what it held, by a watch from there where its source
// is a server: it is synced at once, and [Lease.WaitFresh] waits for the state of now. What it held is dropped when nobody has used
// it for a time, see [WithRetention].
//
// Where the informer is about to stop, Acquire waits for that: who calls it must hold no lock
// that the informer's Observe, transform or index functions wait for.
//
// It returns [ErrUnknownKind], [ErrScope], [ErrForeign] or [ErrShutdown].
func Acquire[T informer.Object](f *Factory, s Scope) (*Lease[T], error) {
	return newLease[T](&f.common, reflect.TypeFor[T](), s)
}

func newLease[T informer.Object, K comparable](c *common[K], id K, s Scope) (l *Lease[T], err error) {
	e, ready, err := c.acquired(id, s, func(e *entry) error {
		_, err := typed[T](e)
		return err
	})
	if err != nil {
		return nil, err
	}
	await(ready)
	i, _ := typed[T](e) // it is
	lent, end := i.Lend()
	return &Lease[T]{informer: lent, release: sync.OnceFunc(func() {
		end()
		c.release(e)
	})}, nil
}

// acquired returns the informer of a scope, made if there is none, with one more user,
// where it is a fitting one.
func (c *common[K]) acquired(id K, s Scope, fits func(*entry) error) (e *entry, ready <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	k, err := c.known(id)
	if err != nil {
		return nil, nil, err
	}
	only, err := s.resolve(k, c.namespace)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%v: %w", id, err)
	case c.down:
		return nil, nil, ErrShutdown
	}
	e = c.enter(key[K]{id, only.text}, func() *entry { return c.create(id, k, Scope{only.namespaces, s.Labels, s.Fields}, only) })
	if err := fits(e); err != nil {
		return nil, nil, err
	}
	return e, c.acquire(e), nil
}

// selection is what a scope leaves of a kind.
type selection struct {
	text       string // spelled so that equal scopes are spelled alike; "" for all that the factory has
	namespaces []string
	tweak      func(*metav1.ListOptions)
}

// resolve checks a scope against a kind, and the namespace of the factory, "" for all.
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
		names = nil // it is the factory's
	}
	if len(names) == 0 && byLabels.Empty() && byFields.Empty() {
		return selection{}, nil
	}
	return selection{
		text:       fmt.Sprintf("%q %q %q", names, byLabels, byFields),
		namespaces: names,
		tweak: func(o *metav1.ListOptions) {
			o.LabelSelector = both(o.LabelSelector, byLabels.String())
			o.FieldSelector = both(o.FieldSelector, byFields.String())
		},
	}, nil
}

// clone returns a scope that shares nothing with this one.
func (s Scope) clone() Scope {
	s.Namespaces = slices.Clone(s.Namespaces)
	return s
}

// both joins two selectors: an object has to match each.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}
