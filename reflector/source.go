package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Source lists and watches the objects of one kind, for a [Reflector]. [From] and similar functions
// return the source of a client. For any other origin, set List and Watch. A source is a value: a
// wrapper copies it and replaces fields.
//
// The functions must be safe for concurrent use. List and Watch should return when ctx ends. The
// reflector abandons a call that does not return, and drops its later result.
//
// The zero Source reads nothing: [Reflector.Run] returns [ErrNoSource].
type Source struct {
	// List returns a page of the objects. Watch returns the changes after a version. Their contract
	// is that of client-go's ListerWatcherWithContext.
	List  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	Watch func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
	// Send, unless nil, sends the reflector's requests instead of List and Watch, and the reflector
	// decodes the answers. A wrapper that replaces List or Watch must set Send to nil.
	Send *Sender
	// Resource is the resource of the objects, or empty if unknown. It appears in the NotFound
	// errors of an informer's lister.
	Resource schema.GroupVersionResource
	// Namespace is the only namespace of the objects, or "" if the source may return any object.
	Namespace string
	// Tweak, unless nil, changes the options of each list and watch, for instance to set a selector
	// (client-go's TweakListOptionsFunc). The reflector calls it before List, Watch or Send.
	Tweak func(*metav1.ListOptions)
	// Streams says whether the source can send its initial state through a watch.
	Streams Streaming
}

// Sender sends the requests of a [Source] and returns answers that the reflector can decode.
// Functions such as [FromGenerated] create it.
type Sender struct {
	objects wire.Objects
	ask     wire.Send
	askHead wire.Send // lists for a caller that reads only the head
}

// Streaming is a [Source]'s ability to send its initial state through a watch (KEP-3157,
// WatchList).
type Streaming uint8

const (
	// StreamingUnknown is for sources that do not know, such as a plain cache.ListWatch. The
	// reflector tries a stream for a short time.
	StreamingUnknown Streaming = iota
	// StreamingSupported is for sources that send requests to a server.
	StreamingSupported
	// StreamingUnsupported is for sources that cannot stream, such as fake clientsets. The
	// reflector never tries a stream. [Newest] sends no request, because a fake's version proves
	// nothing.
	StreamingUnsupported
)

// IsZero reports whether the source reads nothing: it lacks List or Watch.
func (s Source) IsZero() bool { return s.List == nil || s.Watch == nil }

// ask sends a request through the client, which decodes the answer.
func (s Source) ask(ctx context.Context, o metav1.ListOptions, list bool) (a wire.Answer, err error) {
	if list {
		a.List, err = s.List(ctx, o)
	} else {
		a.Watch, err = s.Watch(ctx, o)
	}
	return a, err
}
