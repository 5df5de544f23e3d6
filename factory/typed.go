package factory

import (
	"fmt"
	"maps"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// For returns the factory's informer of a type, the same one that the
// accessors show. It returns [ErrUnknownKind], [ErrForeign], or [ErrShutdown] for
// an informer that would never run.
func For[T informer.Object](f *Factory) (*informer.Informer[T], error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	m, err := f.of(reflect.TypeFor[T]())
	switch {
	case err != nil:
		return nil, err
	case f.down && !m.started:
		return nil, fmt.Errorf("%v: %w", reflect.TypeFor[T](), ErrShutdown)
	}
	return typed[T](m)
}

// typed returns a member's informer, unless a caller's constructor made one
// that is not of this module.
func typed[T informer.Object](m *member) (*informer.Informer[T], error) {
	i, ok := informer.As[T](m.shared)
	if !ok {
		return nil, fmt.Errorf("%v: %w", reflect.TypeFor[T](), ErrForeign)
	}
	return i, nil
}

// ListerFor returns the lister of [For]'s informer, and its errors.
func ListerFor[T informer.Object](f *Factory) (lister.Lister[T], error) {
	i, err := For[T](f)
	if err != nil {
		return lister.Lister[T]{}, err
	}
	return i.Lister(), nil
}

// Configure sets the options of a type's informers: those that For, the
// accessors and Acquire make from now on. It returns [ErrUnknownKind], or
// [informer.ErrRunning] if the factory has made one already.
func Configure[T informer.Object](f *Factory, o informer.Options[T]) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	object := reflect.TypeFor[T]()
	if _, err := f.kind(object); err != nil {
		return err
	}
	if f.made(object) {
		return fmt.Errorf("%v is configured before it is first asked for: %w", object, informer.ErrRunning)
	}
	f.configured[object] = o.Untyped()
	return nil
}

// made tells whether the factory has an informer of a type. The caller holds mu.
func (f *Factory) made(object reflect.Type) bool {
	for key := range f.leases {
		if key.object == object {
			return true
		}
	}
	return f.members[object] != nil
}

// Resource says where the objects of a registered type come from.
type Resource struct {
	GVR        schema.GroupVersionResource
	Namespaced bool
	// Source returns the source of one namespace, or of all for "". It is not
	// called with a namespace where the resource is not namespaced, and not
	// before an informer of the type runs.
	Source func(namespace string) reflector.Source
}

// Register makes a type known to the factory, such as the Go type of a custom
// resource: For, ListerFor, Acquire and ForResource then work as for a built-in
// kind. A resource that the server does not have (yet) is no error: the
// informer's WaitSynced and Status tell, and it comes up with the resource. It
// returns [ErrResource], or [ErrRegistered].
func Register[T informer.Object](f *Factory, r Resource) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	object := reflect.TypeFor[T]()
	if r.GVR.Resource == "" || r.GVR.Version == "" || r.Source == nil {
		return fmt.Errorf("%v as %v: %w", object, r.GVR, ErrResource)
	}
	for _, k := range f.kinds {
		if k.object == object || k.resource == r.GVR {
			return fmt.Errorf("%v as %v: %w, as %v", object, r.GVR, ErrRegistered, k.resource)
		}
	}
	f.kinds[object] = kindOf[T](r.GVR, r.Namespaced, func(_ kubernetes.Interface, namespace string) reflector.Source {
		if !r.Namespaced {
			namespace = metav1.NamespaceAll
		}
		return r.Source(namespace)
	})
	return nil
}

// NewFilteredInformer returns an informer of a built-in kind that no factory
// shares: client-go's generated NewFilteredPodInformer and the like. It has the
// index "namespace" whether or not ix names it. Of a type that is not built in
// it returns one that tells [informer.ErrNoSource].
func NewFilteredInformer[T informer.Object](c kubernetes.Interface, namespace string, resync time.Duration, ix cache.Indexers, tweak internalinterfaces.TweakListOptionsFunc) cache.SharedIndexInformer {
	f := NewFilteredSharedInformerFactory(c, resync, namespace, tweak)
	var source reflector.Source
	var resource schema.GroupResource
	if k, err := f.kind(reflect.TypeFor[T]()); err == nil {
		source, resource = f.source(k, namespace, nil), k.resource.GroupResource()
	}
	i := build(reflect.TypeFor[T](), []reflector.Source{source}, settings{resource: resource, resync: resync}).shared
	ix = maps.Clone(ix)
	delete(ix, cache.NamespaceIndex) // it has one
	if err := i.AddIndexers(ix); err != nil {
		klog.Background().Error(err, "The informer has none of the indexes", "informer", resource)
	}
	return i
}
