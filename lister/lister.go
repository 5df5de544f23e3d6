package lister

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Lister reads the objects of a kind, in all namespaces or, after [Lister.Namespace], in one.
type Lister[T any] struct {
	*kind     // a pointer, so that a lister of a namespace costs little behind an interface
	namespace string
}

// kind is the part that the listers of all namespaces of a kind share. It is untyped: a program
// with listers of all kinds would otherwise compile all methods of an [indexer.Indexer] for each
// kind.
type kind struct {
	objects  *indexer.Indexer[any]
	resource schema.GroupResource
}

// New returns a lister of all objects of an indexer. Errors of [Lister.Get] name the resource.
func New[T any](objects *indexer.Indexer[T], resource schema.GroupResource) Lister[T] {
	return Lister[T]{kind: &kind{(*indexer.Indexer[any])(objects), resource}}
}

// View returns a typed lister of a store whose objects are all Ts.
func View[T any](l Lister[any]) Lister[T] {
	return Lister[T](l)
}

// Namespace returns a lister of one namespace, or of all namespaces for "".
func (l Lister[T]) Namespace(namespace string) Lister[T] {
	l.namespace = namespace
	return l
}

// Get returns an object of the lister's namespace by name. Without a namespace, the name is that of
// a cluster-scoped object, or "namespace/name" as in client-go. If the object does not exist,
// apierrors.IsNotFound is true for the error. If the object has another type, the error is
// [indexer.ErrType], with the key and both types.
func (l Lister[T]) Get(name string) (T, error) {
	obj, _ := l.objects.Get(indexer.Key{Namespace: l.namespace, Name: name})
	if t, ok := obj.(T); ok {
		return t, nil
	}
	return l.missing(name)
}

// missing determines why Get found no object. The object may also have been added since.
func (l Lister[T]) missing(name string) (T, error) {
	obj, ok, err := indexer.GetChecked[T](l.objects, indexer.Key{Namespace: l.namespace, Name: name})
	if !ok && err == nil && l.namespace == "" {
		obj, ok, err = indexer.GetChecked[T](l.objects, indexer.ParseKey(name))
	}
	if !ok && err == nil {
		err = apierrors.NewNotFound(l.resource, name)
	}
	return obj, err
}

// List returns the objects that match a selector, in no particular order, or nil if there are none.
// A nil selector matches everything, as labels.Everything does. If an object is of another type,
// List returns the others with [indexer.ErrType], its key and both types. Otherwise the error is
// nil.
func (l Lister[T]) List(selector labels.Selector) ([]T, error) {
	return indexer.SelectChecked[T](l.objects, l.namespace, selector)
}
