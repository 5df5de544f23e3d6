package reflector

import (
	"net/http"
	"path"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Wire wraps the transport of client-go's dynamic and metadata clients, so that reflectors decode
// their lists and watches themselves:
//
//	config.Wrap(reflector.Wire)
//	client, err := dynamic.NewForConfig(config)
//
// A reflector then decodes objects one by one as they arrive, stores equal values once
// ([Decoding]), and skips objects that the sink already has. Wire takes over only requests of
// [FromDynamic], [FromMetadata] and [FromControllerRuntime]. The factories use the first two. All
// other requests pass through unchanged.
//
// If a busy or failing server sends Retry-After, or a connection breaks, the reflector (and not the
// client) repeats the request and reports it.
//
// Call Wrap with Wire last: a transport that is added later does not see the objects. If a later
// transport replaces a body, the request fails, and the client decodes from then on.
//
// Clients of the built-in kinds need no transport, see [FromGenerated].
func Wire(next http.RoundTripper) http.RoundTripper { return wire.Transport{Next: next} }

// FromDynamic returns a source that reads a resource through client-go's dynamic client, in one
// namespace, or in all if namespace is "". With [Wire] in the client's transport, the reflector
// decodes the answers. Other implementations of the interface work as with [From]. FromDynamic
// returns the zero Source for a nil client.
func FromDynamic(c dynamic.Interface, resource schema.GroupVersionResource, namespace string) Source {
	if object.IsNil(c) {
		return Source{}
	}
	source := fromClient(c.Resource(resource).Namespace(namespace), resource)
	source.Namespace = namespace
	if _, ok := c.(*dynamic.DynamicClient); ok {
		source.Send = takingOver(source, wire.Unstructured)
	}
	return source
}

// FromMetadata is [FromDynamic] for client-go's metadata client.
func FromMetadata(c metadata.Interface, resource schema.GroupVersionResource, namespace string) Source {
	if object.IsNil(c) {
		return Source{}
	}
	source := fromClient(c.Resource(resource).Namespace(namespace), resource)
	source.Namespace = namespace
	if _, ok := c.(*metadata.Client); ok {
		source.Send = takingOver(source, metadataType)
	}
	return source
}

// takingOver returns a Sender that takes over the answers of a resource's client.
func takingOver(client Source, object reflect.Type) *Sender {
	kind := wire.Objects{Type: object, Secret: isSecrets(client.Resource)}
	return throughClient(client, kind, collectionPath(client.Resource, client.Namespace))
}

// FromControllerRuntime returns a source for a ListerWatcher that controller-runtime has made for
// its cache, of objects like example. With [Wire] in the transport of the manager's rest.Config,
// the reflector decodes the answers. The ListerWatcher must not do more with an answer than
// controller-runtime does. FromControllerRuntime returns the zero Source for a nil ListerWatcher.
func FromControllerRuntime(lw cache.ListerWatcher, example runtime.Object) Source {
	source := FromListerWatcher(lw)
	if source.IsZero() || example == nil {
		return source
	}
	kind := wire.Objects{Type: reflect.TypeOf(example), Secret: object.HoldsSecrets(example)}
	if _, ok := example.(*metav1.PartialObjectMetadata); ok {
		kind.Named = example.GetObjectKind().GroupVersionKind()
	}
	source.Send = throughClient(source, kind, "")
	return source
}

// isSecrets reports whether a resource is that of Secrets.
func isSecrets(r schema.GroupVersionResource) bool { return object.IsSecrets(r.GroupResource()) }

// metadataType is the type of metadata-only objects.
var metadataType = reflect.TypeFor[*metav1.PartialObjectMetadata]()

// throughClient returns a Sender that sends requests through a client and takes over the answers to
// requests whose path ends with path.
func throughClient(client Source, objects wire.Objects, path string) *Sender {
	ask := wire.NewTakingClient(client.ask, path).Ask
	return &Sender{objects, ask, ask}
}

// collectionPath returns the end of a collection's path.
func collectionPath(resource schema.GroupVersionResource, namespace string) string {
	root := path.Join("/apis", resource.Group, resource.Version)
	if resource.Group == "" {
		root = path.Join("/api", resource.Version)
	}
	if namespace != "" {
		root = path.Join(root, "namespaces", namespace)
	}
	return path.Join(root, resource.Resource)
}
