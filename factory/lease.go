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
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Scope says which objects of a kind an acquired informer holds. The zero
// value is all that the factory's own informer of the type would hold.
type Scope struct {
	// Namespaces are those to watch, each with requests of its own; none for
	// the factory's.
	Namespaces []string
	// Labels and Fields are selectors as the API server takes them; empty for all.
	Labels, Fields string
}

// Lease is the use of an informer that lives only while someone uses it.
type Lease[T informer.Object] struct {
	informer *informer.Informer[T]
	release  func()
}

// Informer returns the informer. It is not to be used after Release.
func (l *Lease[T]) Informer() *informer.Informer[T] { return l.informer }

// Release gives the informer back. With the last release it stops. A second
// call does nothing.
func (l *Lease[T]) Release() { l.release() }

// Acquire returns a lease on the informer of a type and a scope, which starts,
// if the factory has been started, with the first lease and stops with the last
// release. Acquired again it goes on from what it held, with the handlers it had;
// what a scope held stays in memory as long as the factory does.
//
// It returns [ErrUnknownKind], [ErrScope], [ErrForeign] or [ErrShutdown].
func Acquire[T informer.Object](f *Factory, s Scope) (*Lease[T], error) {
	object := reflect.TypeFor[T]()
	f.mu.Lock()
	defer f.mu.Unlock()

	k, err := f.kind(object)
	if err != nil {
		return nil, err
	}
	key, tweak, err := s.resolve(k)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%v: %w", object, err)
	case f.down:
		return nil, ErrShutdown
	}
	if m, ok := f.members[object]; ok && key.scope == "" {
		i, err := typed[T](m)
		if err != nil {
			return nil, err
		}
		return &Lease[T]{informer: i, release: func() {}}, nil // For or an accessor has it for ever
	}
	l, ok := f.leases[key]
	if !ok {
		l = f.lease(k, s.Namespaces, tweak)
		f.leases[key] = l
	}
	l.users++
	f.startLease(l)
	i, err := typed[T](l.member)
	return &Lease[T]{informer: i, release: sync.OnceFunc(func() { f.release(l) })}, err
}

// leaseKey tells the acquired informers of a factory apart.
type leaseKey struct {
	object reflect.Type
	scope  string // spelled so that equal scopes are spelled alike
}

// leased is an informer with its users. Guarded by the factory's mu.
type leased struct {
	member *member
	users  int             // leases, and one more for ever if For or an accessor has it
	ctx    context.Context // of the last run; nil before the first
	stop   context.CancelFunc
}

// runs tells whether the informer runs, and has not been told to stop.
func (l *leased) runs() bool { return l.ctx != nil && l.ctx.Err() == nil }

// stopping returns a channel to wait for where the last run is about to end.
func (l *leased) stopping() <-chan struct{} {
	if l.ctx == nil {
		return nil
	}
	select {
	case <-l.member.stopped():
		return nil
	default:
		return l.member.stopped()
	}
}

// resolve checks a scope against a kind.
func (s Scope) resolve(k kind) (leaseKey, func(*metav1.ListOptions), error) {
	key := leaseKey{object: k.object}
	byLabels, err := labels.Parse(s.Labels)
	if err != nil {
		return key, nil, fmt.Errorf("%w: labels %q: %w", ErrScope, s.Labels, err)
	}
	byFields, err := fields.ParseSelector(s.Fields)
	if err != nil {
		return key, nil, fmt.Errorf("%w: fields %q: %w", ErrScope, s.Fields, err)
	}
	if len(s.Namespaces) > 0 && !k.namespaced {
		return key, nil, fmt.Errorf("%w: %v has no namespaces", ErrScope, k.resource.GroupResource())
	}
	names := slices.Sorted(slices.Values(s.Namespaces))
	for i, name := range names {
		if name == "" || i > 0 && names[i-1] == name {
			return key, nil, fmt.Errorf("%w: namespace %q is empty or given twice", ErrScope, name)
		}
	}
	if len(names) == 0 && byLabels.Empty() && byFields.Empty() {
		return key, nil, nil
	}
	key.scope = fmt.Sprintf("%q %q %q", names, byLabels, byFields)
	return key, func(o *metav1.ListOptions) {
		o.LabelSelector = both(o.LabelSelector, byLabels.String())
		o.FieldSelector = both(o.FieldSelector, byFields.String())
	}, nil
}

// both joins two selectors: an object has to match each.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// lease makes the informer of a scope. The caller holds mu.
func (f *Factory) lease(k kind, namespaces []string, tweak func(*metav1.ListOptions)) *leased {
	if len(namespaces) == 0 {
		namespaces = []string{f.namespace}
	}
	var sources []reflector.Source
	for _, namespace := range namespaces {
		sources = append(sources, f.source(k, namespace, tweak))
	}
	return &leased{member: f.build(k, sources...)}
}

// adopt makes the acquired informer of a type, if there is one of the zero
// scope, a member like all others, which is never stopped. The caller holds
// mu, see startLease.
func (f *Factory) adopt(object reflect.Type) {
	key := leaseKey{object: object}
	l, ok := f.leases[key]
	if !ok {
		return
	}
	l.users++ // for ever
	f.startLease(l)
	delete(f.leases, key)
	f.add(object, l.member)
}

// startLease runs an informer that has users and does not run. The caller
// holds mu, which is let go while the run before comes to its end: that may
// take as long as a transform of the user's.
func (f *Factory) startLease(l *leased) {
	for l.users > 0 && !l.runs() && f.lives() {
		stopping := l.stopping()
		if stopping == nil {
			f.launchLease(l)
			return
		}
		f.mu.Unlock()
		<-stopping
		f.mu.Lock()
	}
}

// launchLease is launch, with an end of its own. The caller holds mu.
func (f *Factory) launchLease(l *leased) {
	ctx, stop := context.WithCancel(f.ctx)
	if !f.launch(ctx, l.member) {
		stop()
		return
	}
	l.ctx, l.stop = ctx, stop
}

func (f *Factory) release(l *leased) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if l.users--; l.users == 0 && l.runs() {
		l.stop()
	}
}
