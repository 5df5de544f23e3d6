package informers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
)

// SharedInformerFactory is client-go's interface of that name. The constructors of this package
// return a [*factory.Factory].
type SharedInformerFactory = clientgo.SharedInformerFactory

// GenericInformer is client-go's interface of that name.
type GenericInformer = clientgo.GenericInformer

// SharedInformerOption configures a factory. It is the type of package factory's options.
type SharedInformerOption = factory.Option

// NewSharedInformerFactory returns a factory for all namespaces.
func NewSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration) SharedInformerFactory {
	return factory.NewSharedInformerFactory(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace; "" stands for all.
// The options of all its requests pass through tweakListOptions.
func NewFilteredSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration, namespace string, tweakListOptions internalinterfaces.TweakListOptionsFunc) SharedInformerFactory {
	return factory.NewFilteredSharedInformerFactory(client, defaultResync, namespace, tweakListOptions)
}

// NewSharedInformerFactoryWithOptions returns a factory.
func NewSharedInformerFactoryWithOptions(client kubernetes.Interface, defaultResync time.Duration, options ...SharedInformerOption) SharedInformerFactory {
	return factory.NewSharedInformerFactoryWithOptions(client, defaultResync, options...)
}

// WithCustomResyncConfig is [factory.WithCustomResyncConfig].
func WithCustomResyncConfig(resyncConfig map[metav1.Object]time.Duration) SharedInformerOption {
	return factory.WithCustomResyncConfig(resyncConfig)
}

// WithTweakListOptions is [factory.WithTweakListOptions].
func WithTweakListOptions(tweakListOptions internalinterfaces.TweakListOptionsFunc) SharedInformerOption {
	return factory.WithTweakListOptions(tweakListOptions)
}

// WithNamespace is [factory.WithNamespace].
func WithNamespace(namespace string) SharedInformerOption {
	return factory.WithNamespace(namespace)
}

// WithTransform is [factory.WithTransform].
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return factory.WithTransform(transform)
}

// WithInformerName is [factory.WithInformerName].
func WithInformerName(informerName *cache.InformerName) SharedInformerOption {
	return factory.WithInformerName(informerName)
}
