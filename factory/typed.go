package factory

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// For returns the factory's informer of a type, the same one that the
// accessors show. It returns [ErrUnknownKind], [ErrForeign], or [ErrShutdown] for
// an informer that would never run. Where the informer is about to stop, For and the accessors
// wait for that, as [Acquire] does.
func For[T informer.Object](f *Factory) (*informer.Informer[T], error) {
	return informerFor[T](&f.common, reflect.TypeFor[T]())
}

func informerFor[T informer.Object, K comparable](c *common[K], id K) (*informer.Informer[T], error) {
	e, ready, err := c.asked(id)
	if err != nil {
		return nil, err
	}
	await(ready)
	return typed[T](e)
}

// asked is of, unless the informer would never run.
func (c *common[K]) asked(id K) (*entry, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	e, ready, err := c.of(id)
	if err == nil && c.down && !e.state.ran() {
		err = fmt.Errorf("%v: %w", id, ErrShutdown)
	}
	return e, ready, err
}

// typed returns an entry's informer, unless a caller's constructor made one
// that is not of this module.
func typed[T informer.Object](e *entry) (*informer.Informer[T], error) {
	i, ok := informer.As[T](e.shared)
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
	return configure(&f.common, reflect.TypeFor[T](), o)
}

func configure[T informer.Object, K comparable](c *common[K], id K, o informer.Options[T]) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	if _, err := c.known(id); err != nil {
		return err
	}
	if c.made(id) {
		return fmt.Errorf("%v is configured before it is first asked for: %w", id, informer.ErrRunning)
	}
	c.configured[id] = o.Untyped()
	return nil
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
