package reflector

import (
	"context"
	"errors"
	"path"
	"reflect"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
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
	return newTaken(From(c.Resource(resource).Namespace(namespace)), resource, namespace, unstructuredType, served.FromDynamic(client))
}

// FromMetadata is [FromDynamic] for client-go's metadata client.
func FromMetadata(c metadata.Interface, resource schema.GroupVersionResource, namespace string) Source {
	if isNil(c) {
		return nil
	}
	if _, ok := c.(*metadata.Client); !ok {
		return From(c.Resource(resource).Namespace(namespace))
	}
	return newTaken(From(c.Resource(resource).Namespace(namespace)), resource, namespace, metadataType, documents(c))
}

// newTaken returns a source that takes over the answers of a client.
func newTaken(client Source, resource schema.GroupVersionResource, namespace string, object reflect.Type, documents served.Documents) Source {
	taken := newTakenSource(client, resource, namespace, object)
	c := capabilitiesOf(client)
	c.namespace, c.raw = namespace, rawSource{taken.kind, taken.ask}
	c.watchOver = func(random func() float64) *served.Resource { return served.New(documents, resource, random) }
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
	path  string                 // the end of the requests' paths, "" if it is not known
	place atomic.Pointer[string] // see wanted
	kind  objectKind
	// passedBy is true once a transport around Wire has replaced a body that was taken over: the
	// client has seen other bytes than the reflector. From then on the client decodes.
	passedBy atomic.Bool
}

func newTakenSource(client Source, r schema.GroupVersionResource, namespace string, object reflect.Type) *takenSource {
	return &takenSource{Source: client, path: collectionPath(r, namespace), kind: objectKind{object: object, secret: isSecrets(r)}}
}

// ask sends a request through the client. The client's call of a list lasts until the body taken
// over is closed.
func (s *takenSource) ask(ctx context.Context, o metav1.ListOptions, list bool) (answer, error) {
	if s.passedBy.Load() {
		if d, ok := ctx.Value(delayKey{}).(*delay); ok {
			d.reader.end()
		}
		return askClient(ctx, s.Source, o, list)
	}
	t := &takeover{wanted: wanted{list, o, s.path, &s.place}, body: make(chan *takenBody, 1)}
	returned := make(chan outcome[answer], 1)
	go func() {
		result := outcome[answer]{}
		defer func() { returned <- result }() // also if a transport has ended the goroutine
		result.from(func() (answer, error) {
			return askClient(context.WithValue(ctx, takeoverKey{}, t), s.Source, o, list)
		})
	}()
	select {
	case body := <-t.body:
		return s.take(ctx, body, list, returned)
	case result := <-returned:
		returned <- result
		select {
		case body := <-t.body:
			return s.take(ctx, body, list, returned)
		default:
			return result.value, result.err
		}
	}
}

// take returns a body as the answer. A watch is checked first: its client returns at once.
func (s *takenSource) take(ctx context.Context, body *takenBody, list bool, returned <-chan outcome[answer]) (answer, error) {
	if list {
		body.finish = func() error { return s.check(ctx, body.standIn, <-returned) }
		return answer{body: body}, nil
	}
	select {
	case result := <-returned:
		body.finish = func() error {
			result.value.close()
			return nil
		}
		err := result.err
		if err == nil {
			err = s.check(ctx, body.standIn, result)
		}
		if err != nil {
			_ = body.Close() // the client's error counts
			return answer{}, err
		}
		return answer{body: body}, nil
	case <-ctx.Done():
		body.finish = func() error { return nil }
		_ = body.Close() // the context's error counts
		return answer{}, context.Cause(ctx)
	}
}

// check returns an error if the client has not read the stand-in itself, though it had the time. It
// is called after the client's call has returned. A transport that reads a body, and then returns a
// copy of the answer with another one, is not noticed.
func (s *takenSource) check(ctx context.Context, in *standIn, result outcome[answer]) error {
	switch {
	case errors.Is(result.err, indexer.ErrExited):
		return result.err
	case ctx.Err() != nil, errors.Is(in.request.Context().Err(), context.DeadlineExceeded):
		return nil //nolint:nilerr // the client had no time to read
	case in.isBehind(in.answer.Body) && (!in.list || in.read.Load()):
		return nil
	case in.isBehind(in.answer.Body) && result.err != nil:
		return result.err // of a transport around Wire
	default:
		s.passedBy.Store(true)
		return errReplaced
	}
}
