package reflector

import (
	"context"
	"path"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/served"
)

// FromDynamic returns a source for a resource through client-go's dynamic client, in one
// namespace, or in all for "". With [Wire] in the client's transport the reflector decodes the
// answers; other implementations of the interface are used as by [From]. It returns nil for a nil
// client.
func FromDynamic(c dynamic.Interface, resource schema.GroupVersionResource, namespace string) Source {
	if isNil(c) {
		return nil
	}
	client, ok := c.(*dynamic.DynamicClient)
	if !ok {
		return From(c.Resource(resource).Namespace(namespace))
	}
	in := func(r schema.GroupVersionResource) *takenSource {
		return &takenSource{From(c.Resource(r).Namespace(namespace)), namespace, collectionPath(r, namespace), objectKind{object: unstructuredType, secret: isSecrets(r)}}
	}
	return newVersioned(resource, func() served.Client { return served.FromDynamic(client) }, in)
}

// FromMetadata is [FromDynamic] for client-go's metadata client.
func FromMetadata(c metadata.Interface, resource schema.GroupVersionResource, namespace string) Source {
	if isNil(c) {
		return nil
	}
	if _, ok := c.(*metadata.Client); !ok {
		return From(c.Resource(resource).Namespace(namespace))
	}
	in := func(r schema.GroupVersionResource) *takenSource {
		return &takenSource{From(c.Resource(r).Namespace(namespace)), namespace, collectionPath(r, namespace), objectKind{object: metadataType, secret: isSecrets(r)}}
	}
	return newVersioned(resource, func() served.Client { return served.FromMetadata(c, documents(c)) }, in)
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
	kind := objectKind{object: reflect.TypeOf(example), secret: holdsSecrets(example)}
	if _, ok := example.(*metav1.PartialObjectMetadata); ok {
		kind.named = example.GetObjectKind().GroupVersionKind()
	}
	taken := &takenSource{Source: source, kind: kind}
	c := capabilitiesOf(source)
	c.raw = rawSource{kind, taken.ask}
	return withCapabilities(source, c)
}

// holdsSecrets reports whether objects like example are Secrets, by its kind or by its Go type.
func holdsSecrets(example runtime.Object) bool {
	switch t := reflect.TypeOf(example); t {
	case unstructuredType, metadataType:
		return example.GetObjectKind().GroupVersionKind() == secrets
	default:
		return t.String() == "*v1.Secret" && t.Elem().PkgPath() == "k8s.io/api/core/v1"
	}
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

// takenSource sends requests through a client of known code, and takes over the answers if [Wire]
// is in the client's transport.
type takenSource struct {
	Source
	namespace string // "" for all, or if it is not known
	path      string // the end of the requests' paths
	kind      objectKind
}

// ask sends a request through the client. The client's call lasts until the body taken over is
// closed.
func (s *takenSource) ask(ctx context.Context, o metav1.ListOptions, list bool) (answer, error) {
	t := &takeover{path: s.path, list: list, body: make(chan *takenBody, 1)}
	returned := make(chan askOutcome, 1)
	go func() {
		a, err := askClient(context.WithValue(ctx, takeoverKey{}, t), s.Source, o, list)
		returned <- askOutcome{a, err}
	}()
	select {
	case body := <-t.body:
		body.onClose = sync.OnceFunc(func() { (<-returned).close() })
		return answer{body: body}, nil
	case r := <-returned:
		select {
		case body := <-t.body: // a watch, whose call has returned already
			body.onClose = sync.OnceFunc(r.close)
			return answer{body: body}, nil
		default:
			return r.answer, r.err
		}
	}
}

// askOutcome is the result of a client's call.
type askOutcome struct {
	answer
	err error
}
