package metadatainformer

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	clientgo "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
)

// SharedInformerFactory is client-go's interface of that name. The constructors of this package
// return a [*factory.MetadataFactory].
type SharedInformerFactory = clientgo.SharedInformerFactory

// TweakListOptionsFunc is client-go's type of that name.
type TweakListOptionsFunc = clientgo.TweakListOptionsFunc

// SharedInformerOption configures a factory.
type SharedInformerOption func(*factory.MetadataFactory)

// WithTransform sets the transform of all informers.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(f *factory.MetadataFactory) { f.SetTransform(transform) }
}

// NewSharedInformerFactory returns a factory for all namespaces.
func NewSharedInformerFactory(client metadata.Interface, defaultResync time.Duration) SharedInformerFactory {
	return factory.NewMetadataSharedInformerFactory(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace; "" stands for all.
// The options of all its requests pass through tweakListOptions.
func NewFilteredSharedInformerFactory(client metadata.Interface, defaultResync time.Duration, namespace string, tweakListOptions TweakListOptionsFunc) SharedInformerFactory {
	return factory.NewFilteredMetadataSharedInformerFactory(client, defaultResync, namespace, tweakListOptions)
}

// NewSharedInformerFactoryWithOptions returns a factory for all namespaces.
func NewSharedInformerFactoryWithOptions(client metadata.Interface, defaultResync time.Duration, options ...SharedInformerOption) SharedInformerFactory {
	f := factory.NewMetadataSharedInformerFactory(client, defaultResync)
	for _, option := range options {
		option(f)
	}
	return f
}

// NewFilteredMetadataInformer returns an informer of a resource without a factory.
func NewFilteredMetadataInformer(client metadata.Interface, gvr schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc) informers.GenericInformer {
	return factory.NewFilteredMetadataInformer(client, gvr, namespace, resyncPeriod, indexers, tweakListOptions)
}
