package factory

import (
	"context"
	"fmt"
	"runtime/debug"
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
type later func() (reflector.Source, error)

func newLater(source func() reflector.Source) reflector.Source {
	return later(sync.OnceValues(func() (reflector.Source, error) { return made(source) }))
}

// made makes a source. The clientset may be a nil pointer, and the function a user's:
// what panics is an error of each request.
func made(source func() reflector.Source) (s reflector.Source, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("making the source: %w: %v\n%s", reflector.ErrPanic, p, debug.Stack())
		}
	}()
	if s = source(); s == nil {
		err = informer.ErrNoSource
	}
	return s, err
}

// Unwrap returns the source that was made, nil where there is none.
func (l later) Unwrap() reflector.Source {
	source, _ := l() // each request tells the error
	return source
}

func (l later) Streaming() reflector.Streaming {
	if s, ok := l.Unwrap().(reflector.Streamer); ok {
		return s.Streaming()
	}
	return reflector.StreamingUnknown
}

func (l later) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	source, err := l()
	if err != nil {
		return nil, err
	}
	return source.List(ctx, o)
}

func (l later) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	source, err := l()
	if err != nil {
		return nil, err
	}
	return source.Watch(ctx, o)
}
