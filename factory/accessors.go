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

// accessors is what client-go's generated accessors ask for informers. Their
// constructors, which would run client-go's engine, are not run.
type accessors struct{ *Factory }

func (a accessors) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return a.shared(reflect.TypeOf(obj)) // all their kinds are built in, which a test shows
}

// accessor is client-go's accessor of one kind, such as PodInformer, with a lister that
// answers from the store's own indexes. T is the kind, X its PodIndexInformer and L its
// PodLister.
type accessor[T informer.Object, X, L any] struct {
	clientgoAccessor[X, L]
	f    *Factory
	made func(own lister.Lister[T], clientgo L) L
}

type clientgoAccessor[X, L any] interface {
	Informer() cache.SharedIndexInformer
	TypedInformer() X
	Lister() L
}

func access[T informer.Object, X, L any](f *Factory, a clientgoAccessor[X, L], made func(lister.Lister[T], L) L) accessor[T, X, L] {
	return accessor[T, X, L]{a, f, made}
}

// Lister returns a lister of the store, and client-go's where another constructor has
// made the informer.
func (a accessor[T, X, L]) Lister() L {
	var none T
	clientgo := a.clientgoAccessor.Lister()
	i, ours := informer.As[T](accessors{a.f}.InformerFor(none, nil))
	if !ours {
		return clientgo
	}
	return a.made(lister.New(i.Indexer(), a.f.singular(reflect.TypeFor[T]())), clientgo)
}

// singular is what client-go's listers call a kind when there is no object of a name.
func (f *Factory) singular(object reflect.Type) schema.GroupResource {
	f.mu.Lock()
	defer f.mu.Unlock()

	return schema.GroupResource{Group: f.kinds[object].resource.Group, Resource: strings.ToLower(object.Elem().Name())}
}
