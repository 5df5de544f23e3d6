package dynamicinformer

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientgo "k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
)

// DynamicSharedInformerFactory is client-go's interface of that name. The constructors of this
// package return a [*factory.DynamicFactory].
type DynamicSharedInformerFactory = clientgo.DynamicSharedInformerFactory

// TweakListOptionsFunc is client-go's type of that name.
type TweakListOptionsFunc = clientgo.TweakListOptionsFunc

// NewDynamicSharedInformerFactory returns a factory for all namespaces.
func NewDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration) DynamicSharedInformerFactory {
	return factory.NewDynamicSharedInformerFactory(client, defaultResync)
}

// NewFilteredDynamicSharedInformerFactory returns a factory for one namespace; "" stands for
// all. The options of all its requests pass through tweakListOptions.
func NewFilteredDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration, namespace string, tweakListOptions TweakListOptionsFunc) DynamicSharedInformerFactory {
	return factory.NewFilteredDynamicSharedInformerFactory(client, defaultResync, namespace, tweakListOptions)
}

// NewFilteredDynamicInformer returns an informer of a resource without a factory.
func NewFilteredDynamicInformer(client dynamic.Interface, gvr schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc) informers.GenericInformer {
	return factory.NewFilteredDynamicInformer(client, gvr, namespace, resyncPeriod, indexers, tweakListOptions)
}
