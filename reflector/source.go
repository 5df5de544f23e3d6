package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Source is what a [Reflector] mirrors: one collection of objects of one
// kind, seen through an API server's list and watch. It is client-go's
// ListerWatcherWithContext under the name that this module uses for it.
//
// Both calls must be safe for use from any goroutine. They ought to return
// when ctx ends; a call that does not is abandoned, and what it brings later
// is dropped.
type Source interface {
	List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// Scoped is implemented by a [Source] that may read one namespace only. A source that
// does not implement it may hold any object.
type Scoped interface {
	// Namespace returns the namespace, "" for all.
	Namespace() string
}

// NamespaceOf returns the namespace that a source reads, "" for all or where it does not
// tell. A source that stands for another one is asked for that by its method Unwrap.
func NamespaceOf(s Source) string {
	if scoped, ok := behind[Scoped](s); ok {
		return scoped.Namespace()
	}
	return ""
}

// wrapper is a source that stands for another one.
type wrapper interface{ Unwrap() Source }

// behind returns the first source that is a T: s itself, or one that it stands for.
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

// Streaming says whether a [Source] can send its initial state through a
// watch (KEP-3157, WatchList).
type Streaming uint8

const (
	// StreamingUnknown is said by sources that cannot tell, such as a bare
	// cache.ListWatch. It is tried, with little patience.
	StreamingUnknown Streaming = iota
	// StreamingSupported is said by sources that send requests to a server.
	StreamingSupported
	// StreamingUnsupported is said by sources that are known not to stream,
	// such as fake clientsets. It is never tried.
	StreamingUnsupported
)

// Streamer is implemented by a [Source] that knows whether it can stream its
// initial state. One that does not implement it counts as [StreamingUnknown].
type Streamer interface {
	Streaming() Streaming
}
