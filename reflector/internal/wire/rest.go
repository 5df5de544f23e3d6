package wire

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"
)

// REST sends the requests of a generated client.
type REST struct {
	Client              *rest.RESTClient
	Resource, Namespace string
	// Protobuf says that the client may request protobuf.
	Protobuf bool
}

// Ask sends the request of a list or watch once.
func (s *REST) Ask(ctx context.Context, o metav1.ListOptions, list bool) (a Answer, err error) {
	o.Watch = !list
	a.Body, err = s.request(o).Stream(ctx)
	return a, err
}

// AskHead is like Ask, for a caller that reads only the head of a list. It requests only the metadata of
// the items.
func (s *REST) AskHead(ctx context.Context, o metav1.ListOptions, _ bool) (a Answer, err error) {
	a.Body, err = s.request(o).SetHeader("Accept", metadataOnly).Stream(ctx)
	return a, err
}

// metadataOnly are the formats of a list of metadata, and of full objects for servers that cannot send
// metadata.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// request builds the request like a generated client. The only difference is that the reflector handles
// Retry-After.
func (s *REST) request(o metav1.ListOptions) *rest.Request {
	r := s.Client.Get().
		MaxRetries(0).
		UseProtobufAsDefaultIfPreferred(s.Protobuf).
		NamespaceIfScoped(s.Namespace, s.Namespace != "").
		Resource(s.Resource).
		SpecificallyVersionedParams(&o, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
	if features.FeatureGates().Enabled(features.ClientsAllowCBOR) { // the client may request CBOR, which this package does not decode
		r.SetHeader("Accept", runtime.ContentTypeJSON)
	}
	var timeout time.Duration // 0 instead of the rest.Config's
	if o.TimeoutSeconds != nil {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	r.Timeout(timeout)
	if o.Watch {
		r.Throttle(nil) // a watch is not limited, as in client-go
	}
	return r
}
