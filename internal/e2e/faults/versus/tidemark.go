package main

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// tidemark is what is measured. What a row asks of it is turned into its options
// here, and nowhere else.
type tidemark struct{ task }

// configure wraps the transport of rows that say so.
func (l tidemark) configure(config *rest.Config) {
	if l.Wired {
		config.Wrap(reflector.Wire)
	}
}

func (l tidemark) typed(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
	options := []factory.Option{factory.WithNamespace(namespace), factory.WithDecoding(l.decoding())}
	if l.Fields == stripped {
		options = append(options, factory.WithTransform(strip))
	}
	return factory.NewSharedInformerFactoryWithOptions(client, 0, options...)
}

// decoding says what a row leaves out.
func (l tidemark) decoding() (d reflector.Decoding) {
	if l.Fields == dropped {
		d.Drop = []string{"metadata.managedFields"}
	}
	return d
}

func (l tidemark) dynamic(client dynamic.Interface) dynamicinformer.DynamicSharedInformerFactory {
	f := factory.NewDynamicSharedInformerFactory(client, 0)
	f.SetDecoding(l.decoding())
	return f
}

func (l tidemark) databases(client kubernetes.Interface, own *databaseClient) (cache.SharedIndexInformer, error) {
	f := factory.NewSharedInformerFactory(client, 0)
	err := factory.Register[*cluster.Database](f, factory.Resource{
		GVR: cluster.Databases, Namespaced: true, Source: func(namespace string) reflector.Source {
			return reflector.FromCustomResource[*cluster.Database](own.in(namespace), cluster.Databases)
		},
	})
	if err != nil {
		return nil, err
	}
	one, err := f.ForResource(cluster.Databases)
	if err != nil {
		return nil, err
	}
	return one.Informer(), nil
}
