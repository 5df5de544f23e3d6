package factory

import (
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// NewInformer returns an informer of a built-in kind without a factory, like client-go's generated
// NewPodInformer. See [NewInformerWithOptions].
func NewInformer[T informer.Object](c kubernetes.Interface, namespace string, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return NewFilteredInformer[T](c, namespace, resync, ix, nil)
}

// NewFilteredInformer is [NewInformer] with a tweak that the options of all requests pass through. It
// replaces client-go's generated NewFilteredPodInformer.
func NewFilteredInformer[T informer.Object](c kubernetes.Interface, namespace string, resync time.Duration, ix cache.Indexers, tweak internalinterfaces.TweakListOptionsFunc) cache.SharedIndexInformer {
	return NewInformerWithOptions[T](c, namespace, internalinterfaces.InformerOptions{ResyncPeriod: resync, Indexers: ix, TweakListOptions: tweak})
}

// NewInformerWithOptions returns an informer of a built-in kind without a factory, like client-go's generated
// NewPodInformerWithOptions. It always has the index "namespace". An informer of another type cannot run, and
// reports [informer.ErrNoSource].
//
// To get the result of NewTypedPodInformerWithOptions, pass this informer to
// [cache.NewTypedSharedIndexInformer].
func NewInformerWithOptions[T informer.Object](c kubernetes.Interface, namespace string, o internalinterfaces.InformerOptions) cache.SharedIndexInformer {
	return unshared(reflect.TypeFor[T](), c, namespace, o)
}

func unshared(object reflect.Type, c kubernetes.Interface, namespace string, o internalinterfaces.InformerOptions) cache.SharedIndexInformer {
	f := NewFilteredSharedInformerFactory(c, o.ResyncPeriod, namespace, o.TweakListOptions)
	var sources []func() (reflector.Source, error)
	k, err := f.kind(object)
	if err == nil {
		sources = append(sources, f.sourceOf(k, namespace, nil))
	}
	i := build(object, sources, settings{resource: k.resource.GroupResource(), resync: o.ResyncPeriod})
	if o.InformerName != nil {
		_ = informer.SetMetrics(i, o.InformerName.WithResource(k.resource), nil) // cannot fail: the informer is of this module and has not started
	}
	addIndexers(i, o.Indexers, k.resource)
	return i
}

// NewFilteredDynamicInformer returns an informer of a resource without a factory, which holds unstructured
// objects. It always has the index "namespace".
func NewFilteredDynamicInformer(c dynamic.Interface, resource schema.GroupVersionResource, namespace string, resync time.Duration, ix cache.Indexers, tweak dynamicinformer.TweakListOptionsFunc) informers.GenericInformer {
	g := NewFilteredDynamicSharedInformerFactory(c, resync, namespace, tweak).ForResource(resource)
	addIndexers(g.Informer(), ix, resource)
	return g
}

// NewFilteredMetadataInformer returns an informer of the metadata of a resource without a factory. It always
// has the index "namespace".
func NewFilteredMetadataInformer(c metadata.Interface, resource schema.GroupVersionResource, namespace string, resync time.Duration, ix cache.Indexers, tweak metadatainformer.TweakListOptionsFunc) informers.GenericInformer {
	g := NewFilteredMetadataSharedInformerFactory(c, resync, namespace, tweak).ForResource(resource)
	addIndexers(g.Informer(), ix, resource)
	return g
}

// addIndexers adds indexes to an informer that already has the index "namespace". It logs an error, because
// its callers return none.
func addIndexers(i cache.SharedIndexInformer, ix cache.Indexers, resource schema.GroupVersionResource) {
	ix = maps.Clone(ix)
	delete(ix, cache.NamespaceIndex)
	if err := i.AddIndexers(ix); err != nil {
		klog.Background().Error(err, "Adding indexes to the informer failed", "informer", resource.GroupResource())
	}
}
