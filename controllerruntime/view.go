package controllerruntime

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
)

// Cached reads the objects of a type that a manager caches, see [View]. With several namespaces, it
// is the union of their caches, in no particular order. The objects belong to the cache: DeepCopy
// an object before you change it.
type Cached[T informer.Object] struct {
	parts []*indexer.Indexer[T] // one for each informer, which have no object in common
}

// View returns the cached objects of a type, without a copy and with the queries of package indexer:
//
//	deployments, err := controllerruntime.View[*appsv1.Deployment](controllerruntime.InformersOf(mgr))
//
// It reads the informers that run, and does not start any. So call it in each Reconcile, not before
// the manager starts. It costs a loop over the informers. T is the Go type of a kind. Unstructured
// and metadata-only types do not name a kind. View returns [ErrNotCached] if no informer has such
// objects, and [informer.ErrNotSynced] if an informer has not listed them yet. A MapFunc cannot try
// again: use the manager's client there, which waits.
func View[T informer.Object](in *Informers) (Cached[T], error) {
	typed, err := typedOf[T](in)
	if err != nil {
		return Cached[T]{}, err
	}
	for _, i := range typed {
		select {
		case <-i.Synced():
		default:
			return Cached[T]{}, fmt.Errorf("%v: %w", reflect.TypeFor[T](), informer.ErrNotSynced)
		}
	}
	return cachedBy(typed), nil
}

func cachedBy[T informer.Object](typed []*informer.Informer[T]) (c Cached[T]) {
	for _, i := range typed {
		c.parts = append(c.parts, i.Indexer())
	}
	return c
}

// Get returns the object of a key, or false if the cache has none.
func (c Cached[T]) Get(key client.ObjectKey) (obj T, ok bool) {
	for _, part := range c.parts {
		if obj, ok = part.Get(indexer.Key{Namespace: key.Namespace, Name: key.Name}); ok {
			return obj, true
		}
	}
	return obj, false
}

// List returns the objects of a namespace ("" for all) that a selector selects (nil for all).
func (c Cached[T]) List(namespace string, selector labels.Selector) []T {
	found, _ := c.Find(indexer.Query{Namespace: namespace, Labels: selector}) // only a field can be unknown
	return slices.Collect(found)
}

// All ranges over all objects.
func (c Cached[T]) All() iter.Seq[T] {
	found, _ := c.Find(indexer.Query{})
	return found
}

// Find ranges over the objects that any of the queries selects, as they are now, see [indexer.Indexer.Find]: by labels,
// by values of the indexes that [Indexes] has added, and by the relations of package indexer/refs. It returns
// [indexer.ErrUnknownIndex] if a query names another index.
func (c Cached[T]) Find(queries ...indexer.Query) (iter.Seq[T], error) {
	var found []indexer.Snapshot[T]
	for _, part := range c.parts {
		s, err := part.Find(queries...)
		if err != nil {
			return func(func(T) bool) {}, err
		}
		found = append(found, s)
	}
	return func(yield func(T) bool) {
		for _, s := range found {
			for obj := range s.All() {
				if !yield(obj) {
					return
				}
			}
		}
	}, nil
}

// Referrers returns a function for handler.EnqueueRequestsFromMapFunc. It requests the cached objects of T that refer
// to the object that has changed, wherever they do, see [refs.ByReference]. T needs that index:
//
//	controllerruntime.Indexes(&appsv1.Deployment{}, refs.ByReference[*appsv1.Deployment]())
//
// While the informers of T have not listed their objects, it requests those that they have. It logs a look-up that fails.
func Referrers[T informer.Object](in *Informers) handler.MapFunc {
	return func(ctx context.Context, to client.Object) []reconcile.Request {
		all, err := referrers[T](in, to)
		if err != nil {
			log.FromContext(ctx).Error(err, "Objects that refer to a changed one are not requested", "type", reflect.TypeFor[T](), "changed", client.ObjectKeyFromObject(to))
		}
		return all
	}
}

func referrers[T informer.Object](in *Informers, to client.Object) (all []reconcile.Request, err error) {
	typed, err := typedOf[T](in)
	if err != nil {
		return nil, err
	}
	kind := in.kindOf(to)
	if kind.Empty() {
		return nil, fmt.Errorf("the manager's scheme does not know the type %T", to)
	}
	query := refs.ReferringTo(refs.Ref{Group: kind.Group, Kind: kind.Kind, Namespace: to.GetNamespace(), Name: to.GetName()})
	for _, part := range cachedBy(typed).parts {
		keys, err := part.FindKeys(query)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			all = append(all, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: key.Namespace, Name: key.Name}})
		}
	}
	return all, nil
}

// typedOf returns the typed views of the running informers of a type: at least one, or an error.
func typedOf[T informer.Object](in *Informers) (typed []*informer.Informer[T], err error) {
	var none T
	if in == nil {
		return nil, fmt.Errorf("%w: %w", ErrNotCached, errForeign)
	}
	if ofManyKinds(none) {
		return nil, fmt.Errorf("%w: %T does not name a kind; use its Go type, or the manager's client", ErrNotCached, none)
	}
	live := in.live()
	for _, r := range live {
		if i, ok := informer.As[T](r.informer); ok {
			typed = append(typed, i)
		}
	}
	if len(typed) == 0 {
		return nil, in.notCached(reflect.TypeFor[T](), live)
	}
	return typed, nil
}

// notCached returns the error for a type that no informer holds.
func (in *Informers) notCached(goType reflect.Type, live []running) error {
	for _, r := range live {
		if typed, err := in.scheme.New(r.kind); err == nil && reflect.TypeOf(typed) == goType {
			return fmt.Errorf("%w: the cache holds %s as %T, not as %v: let all controllers watch the same form", ErrNotCached, r.kind.Kind, r.example, goType)
		}
	}
	return fmt.Errorf("%w: no informer of %v runs: let a controller watch the type, or call GetInformer of the manager's cache before it starts", ErrNotCached, goType)
}
