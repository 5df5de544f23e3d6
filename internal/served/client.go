package served

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Client sends requests to a server, with the informer's permissions and connections.
type Client interface {
	// List and Watch read definitions. The objects are *unstructured.Unstructured, or have
	// metadata only.
	List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
	// Document returns the discovery document of a group and version; of a group, without a
	// version; or of the core group's versions, without both.
	Document(ctx context.Context, gv schema.GroupVersion) (map[string]any, error)
}

// allGroups stands for the document that lists all groups.
const allGroups = "."

// definitions is the resource of CustomResourceDefinitions.
var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// FromDynamic returns a client that uses a dynamic client, or nil for a nil one.
func FromDynamic(c *dynamic.DynamicClient) Client {
	if c == nil {
		return nil
	}
	return dynamicClient{c}
}

type dynamicClient struct{ client *dynamic.DynamicClient }

func (c dynamicClient) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return c.client.Resource(definitions).List(ctx, o)
}

func (c dynamicClient) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return c.client.Resource(definitions).Watch(ctx, o)
}

// Document lists a resource without a name, since that list has the path of the document. The client
// keeps all fields of the supposed list.
func (c dynamicClient) Document(ctx context.Context, gv schema.GroupVersion) (map[string]any, error) {
	document, err := c.client.Resource(gv.WithResource("")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return document.Object, nil
}

// FromREST returns a client that uses another client's HTTP client, with a rate limit of its own. It
// returns nil if that is not possible.
func FromREST(c *rest.RESTClient) Client {
	if c == nil {
		return nil
	}
	root := c.Get().AbsPath("/").URL()
	root.RawQuery = ""
	client, err := dynamic.NewForConfigAndClient(&rest.Config{Host: root.String()}, c.Client)
	if err != nil {
		return nil
	}
	return dynamicClient{client}
}

// Documents returns a discovery document as JSON.
type Documents func(ctx context.Context, gv schema.GroupVersion) ([]byte, error)

// FromMetadata returns a client that uses a metadata client, which shows only the existence of a
// definition. It gets discovery documents from documents, if that is not nil.
func FromMetadata(c metadata.Interface, documents Documents) Client {
	return metadataClient{c, documents}
}

type metadataClient struct {
	client    metadata.Interface
	documents Documents
}

func (c metadataClient) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return c.client.Resource(definitions).List(ctx, o)
}

func (c metadataClient) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return c.client.Resource(definitions).Watch(ctx, o)
}

func (c metadataClient) Document(ctx context.Context, gv schema.GroupVersion) (map[string]any, error) {
	if c.documents == nil {
		return nil, ErrNoDiscovery
	}
	text, err := c.documents(ctx, gv)
	if err != nil {
		return nil, err
	}
	document := &unstructured.Unstructured{}
	if err := document.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotDiscovery, err)
	}
	return document.Object, nil
}
