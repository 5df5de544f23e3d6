package factory

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// later is a source that is made when the informer runs. So a factory that
// never does needs no client, such as one whose indexers a test fills by hand,
// and no code of the user's makes sources under the factory's lock.
type later func() reflector.Source

func newLater(source func() reflector.Source) reflector.Source { return later(sync.OnceValue(source)) }

// Unwrap returns the source that was made.
func (l later) Unwrap() reflector.Source { return l() }

func (l later) Streaming() reflector.Streaming {
	if s, ok := l().(reflector.Streamer); ok {
		return s.Streaming()
	}
	return reflector.StreamingUnknown
}

func (l later) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if source := l(); source != nil {
		return source.List(ctx, o)
	}
	return nil, informer.ErrNoSource
}

func (l later) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if source := l(); source != nil {
		return source.Watch(ctx, o)
	}
	return nil, informer.ErrNoSource
}
