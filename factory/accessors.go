package factory

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/lister"
)

// accessors serves informers to client-go's generated accessors. It does not run their constructors, which
// would run client-go's engine.
type accessors struct{ *Factory }

func (a accessors) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return a.shared(reflect.TypeOf(obj)) // a test checks that all kinds of the accessors are built in
}

// accessor is client-go's accessor of one kind, such as PodInformer, with a lister that uses the indexes of
// the store. T is the type of the objects, X is PodIndexInformer and L is PodLister.
type accessor[T informer.Object, X, L any] struct {
	clientgoAccessor[X, L]
	f    *Factory
	wrap func(own lister.Lister[T], clientgo L) L
}

type clientgoAccessor[X, L any] interface {
	Informer() cache.SharedIndexInformer
	TypedInformer() X
	Lister() L
}

func access[T informer.Object, X, L any](f *Factory, a clientgoAccessor[X, L], wrap func(lister.Lister[T], L) L) accessor[T, X, L] {
	return accessor[T, X, L]{a, f, wrap}
}

// Lister returns a lister of the store, or client-go's lister if a caller's constructor made the informer.
func (a accessor[T, X, L]) Lister() L {
	var none T
	clientgo := a.clientgoAccessor.Lister()
	object := reflect.TypeFor[T]()
	store, ours := informer.IndexerOf(accessors{a.f}.InformerFor(none, nil), object)
	if !ours {
		return clientgo
	}
	return a.wrap(lister.View[T](lister.New(store, a.f.singular(object))), clientgo)
}

// singular returns the name that client-go's listers use for a kind in their "not found" errors.
func (f *Factory) singular(object reflect.Type) schema.GroupResource {
	f.mu.Lock()
	defer f.mu.Unlock()

	return schema.GroupResource{Group: f.kinds[object].resource.Group, Resource: strings.ToLower(object.Elem().Name())}
}
