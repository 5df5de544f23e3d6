package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Source lists and watches the objects of one kind, for a [Reflector]. It is client-go's
// ListerWatcherWithContext.
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

// NamespaceOf returns the namespace a source is limited to, or "" for all or unknown. It follows a
// wrapping source's method Unwrap.
func NamespaceOf(s Source) string {
	if scoped, ok := behind[Scoped](s); ok {
		return scoped.Namespace()
	}
	return ""
}

// wrapper is a source around another source.
type wrapper interface{ Unwrap() Source }

// behind returns the first source of type T among s and the sources it wraps.
func behind[T any](s Source) (found T, ok bool) {
	for s != nil {
		if found, ok = s.(T); ok {
			return found, true
		}
		w, wraps := s.(wrapper)
		if !wraps {
			break
		}
		s = w.Unwrap()
	}
	return found, false
}

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
