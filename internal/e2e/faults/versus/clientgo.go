package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// clientGo is what tidemark is compared with.
type clientGo struct{ task }

func (l clientGo) configure(*rest.Config) {}

func (l clientGo) typed(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
	options := []informers.SharedInformerOption{informers.WithNamespace(namespace)}
	if l.Fields == stripped {
		options = append(options, informers.WithTransform(strip))
	}
	return informers.NewSharedInformerFactoryWithOptions(client, 0, options...)
}

func (l clientGo) dynamic(client dynamic.Interface) dynamicinformer.DynamicSharedInformerFactory {
	return dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
}

// databases does what informer-gen writes.
func (l clientGo) databases(_ kubernetes.Interface, client *databaseClient) (cache.SharedIndexInformer, error) {
	all := client.in(metav1.NamespaceAll)
	return cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return all.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return all.Watch(ctx, o) },
		}, all),
		&cluster.Database{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}},
	), nil
}
