package factory

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// byResource is a factory that identifies its informers by resource, and holds objects of type T. The dynamic
// and the metadata factory embed it.
type byResource[T informer.Object] struct {
	common[schema.GroupVersionResource]
}

// init sets the constructor of sources. It takes a namespace; "" stands for all.
func (f *byResource[T]) init(resync time.Duration, namespace string, tweak func(*metav1.ListOptions), source func(schema.GroupVersionResource, string) reflector.Source) {
	f.common.init(resync, func(resource schema.GroupVersionResource) (kind, error) {
		return kind{resource: resource, object: reflect.TypeFor[T](), namespaced: true}, nil // only the server knows which resources are namespaced
	}, func(k kind, namespace string) (reflector.Source, error) { return source(k.resource, namespace), nil })
	f.namespace, f.tweak = namespace, tweak
}

// SetTransform sets the transform of informers made later.
func (f *byResource[T]) SetTransform(transform cache.TransformFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.transform = transform
}

// SetDecoding sets how informers made later decode their objects, see [WithDecoding].
func (f *byResource[T]) SetDecoding(d reflector.Decoding) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.decoding = d
}

// SetStorage sets how informers made later hold their objects, see [WithStorage].
func (f *byResource[T]) SetStorage(s informer.Storage) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.storage = s
}

// ForResource returns the informer of a resource, and creates it if necessary. Only a running informer shows
// whether the server has the resource.
func (f *byResource[T]) ForResource(resource schema.GroupVersionResource) informers.GenericInformer {
	return generic{f.shared(resource), reflect.TypeFor[T](), resource.GroupResource()}
}

// For is ForResource with types. It returns [ErrShutdown] if the informer would never run.
func (f *byResource[T]) For(resource schema.GroupVersionResource) (*informer.Informer[T], error) {
	return informerFor[T](&f.common, resource)
}

// Acquire is [Acquire] for a resource. Only a running informer shows whether the resource is namespaced.
func (f *byResource[T]) Acquire(resource schema.GroupVersionResource, s Scope) (*Lease[T], error) {
	return newLease[T](&f.common, resource, s)
}

// Configure is [Configure] for a resource. This factory has no option WithShard, so only a configured Shard
// makes an informer read a share.
func (f *byResource[T]) Configure(resource schema.GroupVersionResource, o informer.Options[T]) error {
	return configure(&f.common, resource, o)
}
