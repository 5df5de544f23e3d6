package factory

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// DynamicFactory makes shared informers of any resource, which hold unstructured objects. It implements
// client-go's DynamicSharedInformerFactory.
type DynamicFactory struct {
	byResource[*unstructured.Unstructured]
}

var _ dynamicinformer.DynamicSharedInformerFactory = (*DynamicFactory)(nil)

// NewDynamicSharedInformerFactory returns a factory for all namespaces.
func NewDynamicSharedInformerFactory(c dynamic.Interface, resync time.Duration) *DynamicFactory {
	return NewFilteredDynamicSharedInformerFactory(c, resync, metav1.NamespaceAll, nil)
}

// NewFilteredDynamicSharedInformerFactory returns a factory for one namespace; "" stands for all. The options
// of all requests pass through tweak.
func NewFilteredDynamicSharedInformerFactory(c dynamic.Interface, resync time.Duration, namespace string, tweak dynamicinformer.TweakListOptionsFunc) *DynamicFactory {
	f := &DynamicFactory{}
	f.init(resync, namespace, tweak, func(resource schema.GroupVersionResource, namespace string) reflector.Source {
		return ofClient(c, func() reflector.Source { return reflector.FromDynamic(c, resource, namespace) })
	})
	return f
}

// MetadataFactory makes shared informers of the metadata of any resource. It implements the
// SharedInformerFactory of client-go's metadatainformer.
type MetadataFactory struct {
	byResource[*metav1.PartialObjectMetadata]
}

var _ metadatainformer.SharedInformerFactory = (*MetadataFactory)(nil)

// NewMetadataSharedInformerFactory returns a factory for all namespaces.
func NewMetadataSharedInformerFactory(c metadata.Interface, resync time.Duration) *MetadataFactory {
	return NewFilteredMetadataSharedInformerFactory(c, resync, metav1.NamespaceAll, nil)
}

// NewFilteredMetadataSharedInformerFactory returns a factory for one namespace; "" stands for all. The
// options of all requests pass through tweak.
func NewFilteredMetadataSharedInformerFactory(c metadata.Interface, resync time.Duration, namespace string, tweak metadatainformer.TweakListOptionsFunc) *MetadataFactory {
	f := &MetadataFactory{}
	f.init(resync, namespace, tweak, func(resource schema.GroupVersionResource, namespace string) reflector.Source {
		return ofClient(c, func() reflector.Source { return reflector.FromMetadata(c, resource, namespace) })
	})
	return f
}
