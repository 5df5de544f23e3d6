package factory

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Scope restricts the objects of an acquired informer. An informer of the zero Scope holds the same objects
// as the factory's own informer of the type.
type Scope struct {
	// Namespaces are the namespaces to watch, each with its own requests. If there are none, the informer
	// watches the factory's namespaces. A factory of one namespace allows only that namespace.
	Namespaces []string
	// Labels and Fields are selectors in the API server's syntax. "" selects all objects.
	Labels, Fields string
}

// Lease is the right to use an informer, which does not stop before the last release. But the end of the
// context given to Start stops it earlier.
type Lease[T informer.Object] struct {
	informer *informer.Informer[T]
	release  func()
}

// Informer returns the informer. Handlers added through it, or through its Shared, end with the lease. It
// must not be used after Release.
func (l *Lease[T]) Informer() *informer.Informer[T] { return l.informer }

// Release ends the lease and removes its handlers. The last release stops the informer, unless For or an
// accessor has also returned it. A second call does nothing.
func (l *Lease[T]) Release() { l.release() }

// Acquire returns a lease on the informer of a type and a scope. The first lease starts the informer if the
// factory has been started; otherwise the next Start does. The informer stops with the last release, with the
// context given to that Start, or with Shutdown. The factory then drops it with its objects, and the next
// Acquire makes a new informer, which reads all objects again.
//
// Handlers added through a lease end with it. Handlers added through the result of [For] or of an accessor
// stay.
//
// It returns [ErrUnknownKind], [ErrScope], [ErrForeign] or [ErrShutdown].
func Acquire[T informer.Object](f *Factory, s Scope) (*Lease[T], error) {
	return newLease[T](&f.common, reflect.TypeFor[T](), s)
}

// newLease is Acquire for all kinds of factories.
func newLease[T informer.Object, K comparable](c *common[K], id K, s Scope) (*Lease[T], error) {
	e, err := c.acquire(id, s, func(e *entry) error {
		_, err := typed[T](e)
		return err
	})
	if err != nil {
		return nil, err
	}
	i, _ := typed[T](e) // cannot fail: acquire has checked the type
	lent, end := i.Lend()
	return &Lease[T]{lent, sync.OnceFunc(func() {
		end()
		c.release(e)
	})}, nil
}

// acquire adds a user to the informer of a scope. It makes the informer if there is none that can run. If the
// informer does not fit, it returns the error of fits.
func (c *common[K]) acquire(id K, s Scope, fits func(*entry) error) (*entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	k, err := c.known(id)
	if err != nil {
		return nil, err
	}
	only, err := s.resolve(k, c.namespace)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%v: %w", id, err)
	case c.shutDown:
		return nil, ErrShutdown
	}
	e := c.enter(key[K]{id, only.text}, use.replacedByLease, c.maker(id, k, Scope{only.namespaces, s.Labels, s.Fields}, only))
	if err := fits(e); err != nil {
		return nil, err
	}
	if c.shutDown { // while the informer was being made
		if e.unused() {
			e.drop()
		}
		return nil, ErrShutdown
	}
	c.lease(e)
	return e, nil
}

// selection is a scope in a resolved form.
type selection struct {
	text       string // canonical: equal scopes have equal texts; "" for the factory's own scope
	namespaces []string
	tweak      func(*metav1.ListOptions)
}

// resolve checks a scope against a kind and the namespace of the factory, which is "" for all namespaces.
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
			return selection{}, fmt.Errorf("%w: namespace %q in a factory of namespace %q", ErrScope, name, within)
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
