package reflector

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Client is the part of a client that a [Source] uses. Generated typed clients such as
// CoreV1().Pods(namespace) implement it, and so do dynamic.ResourceInterface and
// metadata.ResourceInterface.
type Client[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// From returns a source that reads through the client c, or the zero Source if c is nil or a nil
// pointer.
func From[L runtime.Object](c Client[L]) Source {
	if object.IsNil(c) {
		return Source{}
	}
	return Source{
		List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := c.List(ctx, o)
			if err != nil {
				return nil, err // a nil L would look like an object
			}
			return list, nil
		},
		Watch:     c.Watch,
		Namespace: namespaceOf(c),
		Streams:   streamingOf(c),
	}
}

// fromClient is [From] for the client of a known resource.
func fromClient[L runtime.Object](c Client[L], resource schema.GroupVersionResource) Source {
	source := From(c)
	if !source.IsZero() {
		source.Resource = resource
	}
	return source
}

// namespaceOf returns the namespace of a generated client or its fake, or "".
func namespaceOf(client any) string {
	switch c := client.(type) {
	case interface{ GetNamespace() string }:
		return c.GetNamespace()
	case interface{ Namespace() string }:
		return c.Namespace()
	}
	return ""
}

// FromListerWatcher returns a source that reads through client-go's lw, or the zero Source if lw is
// nil or a nil pointer.
func FromListerWatcher(lw cache.ListerWatcher) Source {
	if object.IsNil(lw) {
		return Source{}
	}
	withContext := cache.ToListerWatcherWithContext(lw)
	return Source{List: withContext.ListWithContext, Watch: withContext.WatchWithContext, Streams: streamingOf(lw)}
}

// streamingOf reports whether a client can stream. It recognizes client-go's clients, and all
// clients that have one of these methods.
func streamingOf(client any) Streaming {
	switch c := client.(type) {
	case interface{ IsWatchListSemanticsUnSupported() bool }:
		if c.IsWatchListSemanticsUnSupported() {
			return StreamingUnsupported
		}
		return StreamingSupported
	case interface{ GetClient() rest.Interface }: // gentype.Client
		return StreamingSupported
	case interface { // gentype.FakeClient
		Resource() schema.GroupVersionResource
		Kind() schema.GroupVersionKind
	}:
		return StreamingUnsupported
	default:
		return streamingByPackage[packageOf(client)]
	}
}

// streamingByPackage lists client-go's clients that only their package identifies: their types are
// unexported and have no methods of their own.
var streamingByPackage = map[string]Streaming{
	"k8s.io/client-go/dynamic":       StreamingSupported,
	"k8s.io/client-go/dynamic/fake":  StreamingUnsupported,
	"k8s.io/client-go/metadata":      StreamingSupported,
	"k8s.io/client-go/metadata/fake": StreamingUnsupported,
}

func packageOf(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
