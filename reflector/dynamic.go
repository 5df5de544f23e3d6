package reflector

import (
	"context"
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

// FromDynamic returns a source for a resource through client-go's dynamic client, in one
// namespace, or in all for "". With [Wire] in the client's transport the reflector decodes the
// answers; other implementations of the interface are used as by [From]. It returns nil for a nil
// client.
func FromDynamic(c dynamic.Interface, resource schema.GroupVersionResource, namespace string) Source {
	if isNil(c) {
		return nil
	}
	source := From(c.Resource(resource).Namespace(namespace))
	if _, ok := c.(*dynamic.DynamicClient); !ok {
		return source
	}
	return newTaken(source, resource, namespace, wire.Unstructured)
}

// FromMetadata is [FromDynamic] for client-go's metadata client.
func FromMetadata(c metadata.Interface, resource schema.GroupVersionResource, namespace string) Source {
	if isNil(c) {
		return nil
	}
	source := From(c.Resource(resource).Namespace(namespace))
	if _, ok := c.(*metadata.Client); !ok {
		return source
	}
	return newTaken(source, resource, namespace, metadataType)
}

// newTaken returns a source that takes over the answers of a client.
func newTaken(client Source, resource schema.GroupVersionResource, namespace string, object reflect.Type) Source {
	c := capabilitiesOf(client)
	c.namespace, c.raw = namespace, rawSource{wire.Objects{Type: object, Secret: isSecrets(resource)}, throughClient(client, collectionPath(resource, namespace))}
	return withCapabilities(client, c)
}

// FromControllerRuntime returns a source for a ListerWatcher made by controller-runtime for its
// cache, of objects like example. With [Wire] in the transport of the manager's rest.Config the
// reflector decodes the answers; the ListerWatcher must do no more with an answer than
// controller-runtime does. It returns nil for a nil ListerWatcher.
func FromControllerRuntime(lw cache.ListerWatcher, example runtime.Object) Source {
	source := FromListerWatcher(lw)
	if source == nil || example == nil {
		return source
	}
	kind := wire.Objects{Type: reflect.TypeOf(example), Secret: object.HoldsSecrets(example)}
	if _, ok := example.(*metav1.PartialObjectMetadata); ok {
		kind.Named = example.GetObjectKind().GroupVersionKind()
	}
	c := capabilitiesOf(source)
	c.raw = rawSource{kind, throughClient(source, "")}
	return withCapabilities(source, c)
}

// isSecrets reports whether a resource is that of Secrets.
func isSecrets(r schema.GroupVersionResource) bool { return object.IsSecrets(r.GroupResource()) }

// metadataType is the type of objects of which the metadata alone is read.
var metadataType = reflect.TypeFor[*metav1.PartialObjectMetadata]()

// throughClient sends requests through a client whose answers are taken over. Their path ends with path.
func throughClient(source Source, path string) wire.Send {
	return wire.NewTakingClient(func(ctx context.Context, o metav1.ListOptions, list bool) (wire.Answer, error) {
		return askClient(ctx, source, o, list)
	}, path).Ask
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
