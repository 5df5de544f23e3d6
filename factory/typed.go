package factory

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// For returns the factory's informer of a type, the same one that the accessors return. It returns
// [ErrUnknownKind], [ErrForeign], [ErrShutdown] if the informer would never run, or the error of an invalid
// index (see [WithIndexes]).
//
// If the informer has stopped, For returns it with its objects. But after another Start whose context has not
// ended, For makes a new informer, which runs with the next Start.
func For[T informer.Object](f *Factory) (*informer.Informer[T], error) {
	return informerFor[T](&f.common, reflect.TypeFor[T]())
}

func informerFor[T informer.Object, K comparable](c *common[K], id K) (*informer.Informer[T], error) {
	e, err := c.requestRunnable(id)
	if err != nil {
		return nil, err
	}
	return typed[T](e)
}

// requestRunnable is request, but returns ErrShutdown if the informer would never run.
func (c *common[K]) requestRunnable(id K) (*entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.misuse != nil {
		return nil, fmt.Errorf("%v: %w", id, c.misuse)
	}
	e, err := c.request(id)
	if err == nil && c.shutDown && e.start == nil {
		err = fmt.Errorf("%v: %w", id, ErrShutdown)
	}
	return e, err
}

// typed returns the typed informer of an entry, or ErrForeign if a caller's constructor made an informer of
// another module.
func typed[T informer.Object](e *entry) (*informer.Informer[T], error) {
	i, ok := informer.As[T](e.shared)
	if !ok {
		return nil, fmt.Errorf("%v: %w", reflect.TypeFor[T](), ErrForeign)
	}
	return i, nil
}

// Configure sets the options of a type's informers. It must be called before For, an accessor or Acquire
// makes the first one. If Resync, Decoding, Storage, Shard or Transform is zero, the factory's applies. The
// factory's indexes apply unless the type has one of the same name. Configure returns [ErrUnknownKind], or
// [informer.ErrRunning] if the factory has already made an informer of the type.
func Configure[T informer.Object](f *Factory, o informer.Options[T]) error {
	return configure(&f.common, reflect.TypeFor[T](), o)
}

func configure[T informer.Object, K comparable](c *common[K], id K, o informer.Options[T]) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	if _, err := c.known(id); err != nil {
		return err
	}
	if c.exists(id) {
		return fmt.Errorf("%v must be configured before its informer is first requested: %w", id, informer.ErrRunning)
	}
	c.configured[id] = o.Untyped()
	return nil
}

// Resource is the resource of a registered type, and the source of its objects.
type Resource struct {
	GVR        schema.GroupVersionResource
	Namespaced bool
	// Source returns the source of one namespace; "" stands for all. A running informer calls it once for
	// each of its namespaces, and always with "" if the resource is not namespaced. If it returns an error,
	// the informer ends.
	Source func(namespace string) (reflector.Source, error)
}

// Register makes a type known to the factory, such as the Go type of a custom resource. For, Acquire and
// ForResource then work as for a built-in kind. The server need not have the resource yet: WaitSynced and
// Status report that, and the informer syncs once the resource appears. Register returns [ErrResource] or
// [ErrRegistered].
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
	f.kinds[object] = kindOf[T](r.GVR, r.Namespaced, func(_ kubernetes.Interface, namespace string) (reflector.Source, error) {
		if !r.Namespaced {
			namespace = metav1.NamespaceAll
		}
		return r.Source(namespace)
	})
	return nil
}
