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

// NewInformer returns an informer of a built-in kind that no factory shares, as
// client-go's generated NewPodInformer and the like do. See [NewInformerWithOptions].
func NewInformer[T informer.Object](c kubernetes.Interface, namespace string, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return NewFilteredInformer[T](c, namespace, resync, ix, nil)
}

// NewFilteredInformer is [NewInformer], with requests that pass through tweak. It stands
// for client-go's generated NewFilteredPodInformer and the like.
func NewFilteredInformer[T informer.Object](c kubernetes.Interface, namespace string, resync time.Duration, ix cache.Indexers, tweak internalinterfaces.TweakListOptionsFunc) cache.SharedIndexInformer {
	return NewInformerWithOptions[T](c, namespace, internalinterfaces.InformerOptions{ResyncPeriod: resync, Indexers: ix, TweakListOptions: tweak})
}

// NewInformerWithOptions returns an informer of a built-in kind that no factory shares,
// as client-go's generated NewPodInformerWithOptions and the like do. It has the index
// "namespace" whether or not the options name it. Of a type that is not built in it
// returns one that tells [informer.ErrNoSource].
//
// What NewTypedPodInformerWithOptions and the like return is this, as client-go's
// [cache.NewTypedSharedIndexInformer] shows it.
func NewInformerWithOptions[T informer.Object](c kubernetes.Interface, namespace string, o internalinterfaces.InformerOptions) cache.SharedIndexInformer {
	return unshared(reflect.TypeFor[T](), c, namespace, o)
}

func unshared(object reflect.Type, c kubernetes.Interface, namespace string, o internalinterfaces.InformerOptions) cache.SharedIndexInformer {
	f := NewFilteredSharedInformerFactory(c, o.ResyncPeriod, namespace, o.TweakListOptions)
	var source reflector.Source
	k, err := f.kind(object)
	if err == nil {
		source = f.sourceOf(k, namespace, nil)
	}
	i := build(object, []reflector.Source{source}, settings{resource: k.resource.GroupResource(), resync: o.ResyncPeriod})
	if o.InformerName != nil {
		_ = informer.Measure(i, o.InformerName.WithResource(k.resource), nil) // it is ours, and has not started
	}
	addIndexers(i, o.Indexers, k.resource)
	return i
}

// NewFilteredDynamicInformer returns an informer of a resource, as unstructured objects,
// that no factory shares. It has the index "namespace" whether or not ix names it.
func NewFilteredDynamicInformer(c dynamic.Interface, resource schema.GroupVersionResource, namespace string, resync time.Duration, ix cache.Indexers, tweak dynamicinformer.TweakListOptionsFunc) informers.GenericInformer {
	g := NewFilteredDynamicSharedInformerFactory(c, resync, namespace, tweak).ForResource(resource)
	addIndexers(g.Informer(), ix, resource)
	return g
}

// NewFilteredMetadataInformer returns an informer of the metadata of a resource that no
// factory shares. It has the index "namespace" whether or not ix names it.
func NewFilteredMetadataInformer(c metadata.Interface, resource schema.GroupVersionResource, namespace string, resync time.Duration, ix cache.Indexers, tweak metadatainformer.TweakListOptionsFunc) informers.GenericInformer {
	g := NewFilteredMetadataSharedInformerFactory(c, resync, namespace, tweak).ForResource(resource)
	addIndexers(g.Informer(), ix, resource)
	return g
}

// addIndexers adds indexes to an informer that has the one by namespace. Its constructor
// returns no error, so the log tells of one.
func addIndexers(i cache.SharedIndexInformer, ix cache.Indexers, resource schema.GroupVersionResource) {
	ix = maps.Clone(ix)
	delete(ix, cache.NamespaceIndex)
	if err := i.AddIndexers(ix); err != nil {
		klog.Background().Error(err, "The informer has none of the indexes", "informer", resource.GroupResource())
	}
}
