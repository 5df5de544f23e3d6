package lister

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Lister reads the objects of one kind, of all namespaces or, after
// [Lister.Namespace], of one.
type Lister[T any] struct {
	objects   *indexer.Indexer[T]
	resource  *schema.GroupResource // a Lister this small is copied in registers
	namespace string
}

// New returns a lister of all objects of an indexer. The resource names the
// kind in the errors of [Lister.Get].
func New[T any](objects *indexer.Indexer[T], resource schema.GroupResource) Lister[T] {
	return Lister[T]{objects: objects, resource: &resource}
}

// View returns a lister of a type over a store whose objects are all of it.
func View[T any](l Lister[any]) Lister[T] {
	return Lister[T]{objects: indexer.View[T](l.objects), resource: l.resource, namespace: l.namespace}
}

// Namespace returns a lister of one namespace; of all for "".
func (l Lister[T]) Namespace(namespace string) Lister[T] {
	l.namespace = namespace
	return l
}

// Get returns the object of a name in the lister's namespace, or of a
// cluster-scoped name where the lister has none; there "namespace/name" finds an object
// too, as it does in client-go. If there is no such object,
// the error is one that apierrors.IsNotFound tells; if there is one of another type,
// it is [indexer.ErrType], with the key and both types.
func (l Lister[T]) Get(name string) (T, error) {
	obj, ok := l.objects.Get(indexer.Key{Namespace: l.namespace, Name: name})
	if !ok {
		return l.missing(name)
	}
	return obj, nil
}

// missing says why there is no object of a name, unless it has come since.
func (l Lister[T]) missing(name string) (T, error) {
	obj, ok, err := l.objects.GetChecked(indexer.Key{Namespace: l.namespace, Name: name})
	if !ok && err == nil && l.namespace == "" {
		obj, ok, err = l.objects.GetChecked(indexer.ParseKey(name))
	}
	if !ok && err == nil {
		err = apierrors.NewNotFound(*l.resource, name)
	}
	return obj, err
}

// List returns the objects that a selector matches, in no promised order, nil
// if there are none. A nil selector matches everything, as labels.Everything
// does. Where one of them is of another type, the error is [indexer.ErrType], with
// its key and both types, and the objects are the others; otherwise it is nil.
func (l Lister[T]) List(selector labels.Selector) ([]T, error) {
	if selector == nil {
		return l.objects.SelectChecked(l.namespace)
	}
	requirements, any := translate(selector)
	if !any {
		return nil, nil
	}
	return l.objects.SelectChecked(l.namespace, requirements...)
}
