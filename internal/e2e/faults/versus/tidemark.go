package main

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/versus/objects"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// tidemark is what is measured. What a row asks of it is turned into its options
// here, and nowhere else.
type tidemark struct{ task }

// configure wraps the transport of rows that say so.
func (l tidemark) configure(config *rest.Config) {
	if l.Wired {
		config.Wrap(reflector.SkipUnchanged)
	}
}

func (l tidemark) typed(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
	options := []factory.Option{factory.WithNamespace(namespace)}
	switch l.Fields {
	case stripped:
		options = append(options, factory.WithTransform(strip))
	case dropped:
		// The option that drops managedFields goes here. There is none yet, so they
		// are kept, and the table says so.
	}
	return factory.NewSharedInformerFactoryWithOptions(client, 0, options...)
}

// dynamic is the other place for the option that drops managedFields.
func (l tidemark) dynamic(client dynamic.Interface) dynamicinformer.DynamicSharedInformerFactory {
	return factory.NewDynamicSharedInformerFactory(client, 0)
}

func (l tidemark) databases(client kubernetes.Interface, own *databaseClient) (cache.SharedIndexInformer, error) {
	f := factory.NewSharedInformerFactory(client, 0)
	err := factory.Register[*objects.Database](f, factory.Resource{
		GVR: objects.Databases, Namespaced: true, Source: func(namespace string) reflector.Source { return reflector.From(own.in(namespace)) },
	})
	if err != nil {
		return nil, err
	}
	one, err := f.ForResource(objects.Databases)
	if err != nil {
		return nil, err
	}
	return one.Informer(), nil
}
