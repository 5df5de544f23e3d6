package factory

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// SharedInformerFactory is client-go's interface of that name.
type SharedInformerFactory = informers.SharedInformerFactory

// Factory hands out shared informers of the built-in kinds, and of those that
// are registered with [Register]. It is client-go's SharedInformerFactory.
type Factory struct {
	client    kubernetes.Interface
	namespace string
	resync    time.Duration
	resyncs   map[reflect.Type]time.Duration
	tweak     internalinterfaces.TweakListOptionsFunc
	transform cache.TransformFunc
	decoding  reflector.Decoding
	name      *cache.InformerName

	registry[reflect.Type]
	kinds      map[reflect.Type]kind
	configured map[reflect.Type]informer.Options[any]
	leases     map[leaseKey]*leased
}

var _ SharedInformerFactory = (*Factory)(nil)

// NewSharedInformerFactory returns a factory for all namespaces. The resync
// period is the one of all its informers; zero for none. The client may be nil
// where nothing of the factory runs.
func NewSharedInformerFactory(c kubernetes.Interface, resync time.Duration) *Factory {
	return NewSharedInformerFactoryWithOptions(c, resync)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace, or all
// for "", whose requests pass through tweak.
func NewFilteredSharedInformerFactory(c kubernetes.Interface, resync time.Duration, namespace string, tweak internalinterfaces.TweakListOptionsFunc) *Factory {
	return NewSharedInformerFactoryWithOptions(c, resync, WithNamespace(namespace), WithTweakListOptions(tweak))
}

// NewSharedInformerFactoryWithOptions returns a factory.
func NewSharedInformerFactoryWithOptions(c kubernetes.Interface, resync time.Duration, options ...Option) *Factory {
	f := &Factory{
		client: c, resync: resync,
		resyncs:    make(map[reflect.Type]time.Duration),
		kinds:      make(map[reflect.Type]kind),
		configured: make(map[reflect.Type]informer.Options[any]),
		leases:     make(map[leaseKey]*leased),
	}
	for _, k := range builtin() {
		f.kinds[k.object] = k
	}
	for _, option := range options {
		option(f)
	}
	return f
}

// InformerFor returns the informer of the type of obj. If there is none yet
// newFunc makes it, since a caller's constructor carries selectors and indexers
// of its own; what it makes is shared from then on. As with client-go, newFunc
// must not call the factory, which is locked meanwhile.
func (f *Factory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()

	object := reflect.TypeOf(obj)
	f.adopt(object)
	return f.constructed(object, func(resync time.Duration) cache.SharedIndexInformer { return newFunc(f.client, resync) })
}

// constructed returns the informer of a type, by a caller's constructor if
// there is none. The caller holds mu.
func (f *Factory) constructed(object reflect.Type, constructor func(resync time.Duration) cache.SharedIndexInformer) cache.SharedIndexInformer {
	return f.get(object, func() *member {
		i := constructor(f.resyncOf(object))
		if f.transform != nil {
			_ = i.SetTransform(f.transform) // it has not started
		}
		return foreign(i)
	}).shared
}

// ForResource returns the informer of a resource, or [ErrUnknownKind].
func (f *Factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for _, k := range f.kinds {
		if k.resource == resource {
			m, _ := f.of(k.object) // it is known
			return generic{m.shared, resource.GroupResource()}, nil
		}
	}
	return nil, fmt.Errorf("no informer of %v: %w", resource, ErrUnknownKind)
}

// InformerName returns what WithInformerName was given.
func (f *Factory) InformerName() *cache.InformerName { return f.name }

// Start runs the informers that have been asked for and do not run yet, until
// stop is closed.
func (f *Factory) Start(stop <-chan struct{}) { f.StartWithContext(wait.ContextForChannel(stop)) }

// StartWithContext runs the informers that have been asked for and do not run
// yet, until ctx ends. After Shutdown it runs none, and says so to the log.
func (f *Factory) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.start(ctx)
	for _, l := range slices.Collect(maps.Values(f.leases)) { // a copy, since startLease may let go of mu
		f.startLease(l)
	}
}

// Shutdown waits until all informers have ended. It does not end them; ending
// the context or channel that Start was given does.
func (f *Factory) Shutdown() {
	f.shutdown()
	f.name.Release()
}

// WaitForCacheSync waits until the started informers are synced, or stop is
// closed, and tells which are.
func (f *Factory) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	return f.WaitForCacheSyncWithContext(wait.ContextForChannel(stop)).Synced
}

// WaitForCacheSyncWithContext waits until the started informers are synced, or
// ctx ends, and tells which are. Err is the context's cause if not all are.
func (f *Factory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	synced, err := f.wait(ctx)
	return cache.SyncResult{Synced: synced, Err: err}
}

// of returns the member of a type, made if there is none. The caller holds mu.
func (f *Factory) of(object reflect.Type) (*member, error) {
	f.adopt(object)
	if m, ok := f.members[object]; ok {
		return m, nil
	}
	k, err := f.kind(object)
	if err != nil {
		return nil, err
	}
	return f.get(object, func() *member {
		m := f.build(k, f.source(k, f.namespace, nil))
		if f.name != nil {
			_ = informer.Measure(m.shared, f.name.WithResource(k.resource), nil) // it is ours, and has not started
		}
		return m
	}), nil
}

func (f *Factory) kind(object reflect.Type) (kind, error) {
	k, ok := f.kinds[object]
	if !ok {
		return k, fmt.Errorf("%v: %w; a type of one's own is made known with Register", object, ErrUnknownKind)
	}
	return k, nil
}

// build makes an informer of a kind, as the options say. The caller holds mu.
func (f *Factory) build(k kind, sources ...reflector.Source) *member {
	s := settings{
		resource:  k.resource.GroupResource(),
		resync:    f.resyncOf(k.object),
		transform: f.transform,
		decoding:  f.decoding,
	}
	if o, ok := f.configured[k.object]; ok {
		s.configured = &o
	}
	return build(k.object, sources, s)
}

// source returns the source of a kind in one namespace, or all for "". The
// caller's tweak comes after the factory's, which may overwrite what it finds.
func (f *Factory) source(k kind, namespace string, tweak func(*metav1.ListOptions)) reflector.Source {
	source := newLater(func() reflector.Source { return k.source(f.client, namespace) })
	return reflector.Tweak(reflector.Tweak(source, tweak), f.tweak)
}

func (f *Factory) resyncOf(object reflect.Type) time.Duration {
	if resync, ok := f.resyncs[object]; ok {
		return resync
	}
	return f.resync
}

// generic is client-go's GenericInformer.
type generic struct {
	informer cache.SharedIndexInformer
	resource schema.GroupResource
}

func (g generic) Informer() cache.SharedIndexInformer { return g.informer }
func (g generic) Lister() cache.GenericLister {
	return cache.NewGenericLister(g.informer.GetIndexer(), g.resource)
}
