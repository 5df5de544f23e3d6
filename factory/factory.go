package factory

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Factory makes shared informers of the built-in kinds, and of the kinds registered with [Register]. It
// implements client-go's SharedInformerFactory.
type Factory struct {
	common[reflect.Type]
	client kubernetes.Interface
	kinds  map[reflect.Type]kind
}

var _ informers.SharedInformerFactory = (*Factory)(nil)

// NewSharedInformerFactory returns a factory for all namespaces. resync is the resync period of all
// informers; zero means no resyncs. The client may be nil if no informer is started: a started one ends at
// once with [informer.ErrNoSource].
func NewSharedInformerFactory(c kubernetes.Interface, resync time.Duration) *Factory {
	return NewSharedInformerFactoryWithOptions(c, resync)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace; "" stands for all. The options of all
// requests pass through tweak.
func NewFilteredSharedInformerFactory(c kubernetes.Interface, resync time.Duration, namespace string, tweak internalinterfaces.TweakListOptionsFunc) *Factory {
	return NewSharedInformerFactoryWithOptions(c, resync, WithNamespace(namespace), WithTweakListOptions(tweak))
}

// NewSharedInformerFactoryWithOptions returns a factory with options.
func NewSharedInformerFactoryWithOptions(c kubernetes.Interface, resync time.Duration, options ...Option) *Factory {
	f := &Factory{client: c, kinds: make(map[reflect.Type]kind)}
	f.init(resync, f.kind, func(k kind, namespace string) (reflector.Source, error) { return k.source(c, namespace) })
	for _, k := range builtin() {
		f.kinds[k.object] = k
	}
	for _, option := range options {
		option(f)
	}
	return f
}

// InformerFor returns the informer of the type of obj. If the factory has none, newFunc makes it, because it
// may set selectors and indexers; all later callers share the result. The factory applies only its resync
// period and its transform. Callers that want the same type wait for newFunc, so newFunc must not ask the
// factory for that type.
func (f *Factory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.constructed(reflect.TypeOf(obj), func(resync time.Duration) cache.SharedIndexInformer { return newFunc(f.client, resync) })
}

// constructed returns the informer of a type. If the factory has none, constructor makes it.
func (f *Factory) constructed(object reflect.Type, constructor func(resync time.Duration) cache.SharedIndexInformer) cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()

	k, err := f.kind(object)
	if err != nil {
		k = kind{object: object}
	}
	resync, transform := f.resyncOf(object), f.transform
	e := f.enter(key[reflect.Type]{kind: object}, use.replacedByRequest, func() *entry {
		i := constructor(resync)
		if transform != nil {
			_ = i.SetTransform(transform) // cannot fail: the informer has not started
		}
		return newEntry(i, k, Scope{})
	})
	e.requested = true
	return e.shared
}

// ForResource returns the informer of a resource, or [ErrUnknownKind].
func (f *Factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	object, err := f.objectOf(resource)
	if err != nil {
		return nil, err
	}
	return generic{f.shared(object), object, resource.GroupResource()}, nil
}

// objectOf returns the type of a resource.
func (f *Factory) objectOf(resource schema.GroupVersionResource) (reflect.Type, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for _, k := range f.kinds {
		if k.resource == resource {
			return k.object, nil
		}
	}
	return nil, fmt.Errorf("no informer of %v: %w", resource, ErrUnknownKind)
}

// InformerName returns the name given to [WithInformerName].
func (f *Factory) InformerName() *cache.InformerName { return f.name }

// WaitForCacheSyncWithContext waits until the started informers are synced or ctx ends, and returns which of
// them are synced. It does not wait for an informer that cannot run or has stopped. If an informer is not
// synced, Err is the reason why it does not run, or the context's cause.
func (f *Factory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	synced, err := f.synced(ctx)
	return cache.SyncResult{Synced: synced, Err: err}
}

// kind returns the table row of a type. The caller holds mu.
func (f *Factory) kind(object reflect.Type) (kind, error) {
	k, ok := f.kinds[object]
	if !ok {
		return k, fmt.Errorf("%v: %w; register the types of custom resources with Register", object, ErrUnknownKind)
	}
	return k, nil
}

// knows reports whether a type is built in or registered.
func (f *Factory) knows(object reflect.Type) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	_, err := f.kind(object)
	return err == nil
}

// generic implements client-go's GenericInformer.
type generic struct {
	informer cache.SharedIndexInformer
	object   reflect.Type
	resource schema.GroupResource
}

func (g generic) Informer() cache.SharedIndexInformer { return g.informer }

// Lister returns a lister of the store, like accessor.Lister.
func (g generic) Lister() cache.GenericLister {
	store, ours := informer.IndexerOf(g.informer, g.object)
	if !ours {
		return cache.NewGenericLister(g.informer.GetIndexer(), g.resource)
	}
	return genericLister{lister.View[runtime.Object](lister.New(store, g.resource))}
}

// genericLister implements client-go's GenericLister.
type genericLister struct{ lister.Lister[runtime.Object] }

func (l genericLister) ByNamespace(namespace string) cache.GenericNamespaceLister {
	return l.Namespace(namespace)
}
