package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/versus/objects"
)

// databaseClient is what client-gen writes for a custom resource.
type databaseClient struct {
	rest       rest.Interface
	parameters runtime.ParameterCodec
}

func newDatabaseClient(config *rest.Config) (*databaseClient, error) {
	known := runtime.NewScheme()
	version := objects.Databases.GroupVersion()
	known.AddKnownTypes(version, &objects.Database{}, &objects.DatabaseList{})
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
func (c *databaseClient) in(namespace string) *gentype.ClientWithList[*objects.Database, *objects.DatabaseList] {
	return gentype.NewClientWithList(objects.Databases.Resource, c.rest, c.parameters, namespace,
		func() *objects.Database { return &objects.Database{} }, func() *objects.DatabaseList { return &objects.DatabaseList{} })
}
