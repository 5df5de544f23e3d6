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
	"github.com/tidemark-k8s/tidemark/internal/around"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// lazySource makes its source at the first request. A factory that never runs therefore needs no
// client (in a test that fills indexers by hand, say), and no user code makes sources under the
// factory's lock.
type lazySource func() (reflector.Source, error)

func newLazySource(source func() reflector.Source) reflector.Source {
	var once sync.Once
	s, err := reflector.Source(nil), error(nil)
	return lazySource(func() (reflector.Source, error) {
		once.Do(func() { makeSource(source, &s, &err) })
		return s, err
	})
}

// makeSource makes a source. If the function panics or ends its goroutine, that is the error of each
// request, and the latter ends the run: the clientset may be a nil pointer, and the function may be the user's.
func makeSource(source func() reflector.Source, s *reflector.Source, err *error) {
	*err = fmt.Errorf("making the source: %w", informer.ErrExited)
	defer func() {
		if p := recover(); p != nil {
			*err = fmt.Errorf("making the source: %w: %v\n%s", reflector.ErrPanic, p, debug.Stack())
		}
	}()
	*s, *err = source(), nil
	if *s == nil {
		*err = informer.ErrNoSource
	}
}

// Around makes the source if necessary.
func (l lazySource) Around() around.Source[reflector.Source] {
	source, _ := l() // each request returns the error
	return around.Source[reflector.Source]{Inner: source}
}

func (l lazySource) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	source, err := l()
	if err != nil {
		return nil, err
	}
	return source.List(ctx, o)
}

func (l lazySource) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	source, err := l()
	if err != nil {
		return nil, err
	}
	return source.Watch(ctx, o)
}
