package served

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Documents gets a discovery document from a server, with the informer's permissions and connections:
// that of a group and version; of a group, without a version; or of the core group's versions, without
// both.
type Documents func(ctx context.Context, gv schema.GroupVersion) (map[string]any, error)

// allGroups stands for the document that lists all groups.
const allGroups = "."

// FromDynamic gets documents through a dynamic client. It returns nil for a nil client.
//
// It lists a resource without a name, since that list has the path of the document. The client keeps
// all fields of the supposed list.
func FromDynamic(c *dynamic.DynamicClient) Documents {
	if c == nil {
		return nil
	}
	return func(ctx context.Context, gv schema.GroupVersion) (map[string]any, error) {
		document, err := c.Resource(gv.WithResource("")).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return document.Object, nil
	}
}

// FromREST gets documents through another client's HTTP client, with a rate limit of its own. It
// returns nil if that is not possible.
func FromREST(c *rest.RESTClient) Documents {
	if c == nil {
		return nil
	}
	root := c.Get().AbsPath("/").URL()
	root.RawQuery = ""
	client, err := dynamic.NewForConfigAndClient(&rest.Config{Host: root.String()}, c.Client)
	if err != nil {
		return nil
	}
	return FromDynamic(client)
}

// FromJSON reads documents from their text.
func FromJSON(get func(ctx context.Context, gv schema.GroupVersion) ([]byte, error)) Documents {
	return func(ctx context.Context, gv schema.GroupVersion) (map[string]any, error) {
		text, err := get(ctx, gv)
		if err != nil {
			return nil, err
		}
		document := &unstructured.Unstructured{}
		if err := document.UnmarshalJSON(text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotDiscovery, err)
		}
		return document.Object, nil
	}
}
