package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Source lists and watches the objects of one kind, for a [Reflector]. It is client-go's
// ListerWatcherWithContext.
//
// A source around another one may have a method "Unwrap() Source", for the namespace (see [Scoped]). Its
// own List and Watch are called nevertheless, so the reflector does not decode the server's bytes itself.
//
// Both methods must be safe for use from any goroutine. They should return when ctx ends. A call
// that does not is abandoned, and its later result is dropped.
type Source interface {
	List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// Scoped is implemented by a [Source] that can be limited to one namespace. Other sources may bring
// any object.
type Scoped interface {
	// Namespace returns the namespace, "" for all.
	Namespace() string
}

// NamespaceOf returns the namespace a source is limited to, or "" for all or unknown. A source with
// a method "Unwrap() Source" that is not [Scoped] itself is limited like the source that Unwrap
// returns.
func NamespaceOf(s Source) string { return capabilitiesOf(s).namespace }

// Streaming is a [Source]'s ability to send its initial state through a watch (KEP-3157,
// WatchList).
type Streaming uint8

const (
	// StreamingUnknown is for sources that do not know, such as a bare cache.ListWatch. The
	// reflector tries a stream, for a short time.
	StreamingUnknown Streaming = iota
	// StreamingSupported is for sources that send requests to a server.
	StreamingSupported
	// StreamingUnsupported is for sources that cannot stream, such as fake clientsets. The
	// reflector never tries a stream.
	StreamingUnsupported
)

// Streamer is implemented by a [Source] that knows whether it can stream its initial state. Other
// sources count as [StreamingUnknown].
type Streamer interface {
	Streaming() Streaming
}

// Tweak returns a source that passes the options of every request through
// tweak, for instance to set a selector (client-go's TweakListOptionsFunc). It
// returns nil for a nil source, and the source itself for a nil tweak.
func Tweak(source Source, tweak func(*metav1.ListOptions)) Source {
	if source == nil || tweak == nil {
		return source
	}
	return &described{tweaked{source, tweak}, func() capabilities {
		c := capabilitiesOf(source)
		if ask := c.raw.ask; ask != nil {
			c.raw.ask = func(ctx context.Context, o metav1.ListOptions, list bool) (wire.Answer, error) {
				tweak(&o)
				return ask(ctx, o, list)
			}
		}
		return c
	}}
}

type tweaked struct {
	source Source
	tweak  func(*metav1.ListOptions)
}

func (t tweaked) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	t.tweak(&o)
	return t.source.List(ctx, o)
}

func (t tweaked) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	t.tweak(&o)
	return t.source.Watch(ctx, o)
}
