package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// databaseClient is what client-gen writes for a custom resource.
type databaseClient struct {
	rest       rest.Interface
	parameters runtime.ParameterCodec
}

func newDatabaseClient(config *rest.Config) (*databaseClient, error) {
	known := runtime.NewScheme()
	version := cluster.Databases.GroupVersion()
	known.AddKnownTypes(version, &cluster.Database{}, &cluster.DatabaseList{})
	metav1.AddToGroupVersion(known, version)
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &version
	config.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &databaseClient{client, runtime.NewParameterCodec(known)}, nil
}

// in is the client of a namespace, or of all.
func (c *databaseClient) in(namespace string) *gentype.ClientWithList[*cluster.Database, *cluster.DatabaseList] {
	return gentype.NewClientWithList(cluster.Databases.Resource, c.rest, c.parameters, namespace,
		func() *cluster.Database { return &cluster.Database{} }, func() *cluster.DatabaseList { return &cluster.DatabaseList{} })
}
