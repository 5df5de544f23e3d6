package kit

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Source lists and watches, like reflector.Source.
type Source interface {
	List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// ListerWatcher is a source with client-go's interfaces.
type ListerWatcher struct{ Source }

var _ interface {
	cache.ListerWatcher
	cache.ListerWatcherWithContext
} = ListerWatcher{}

// List implements cache.ListerWatcher.
func (l ListerWatcher) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.Source.List(context.Background(), o)
}

// Watch implements cache.ListerWatcher.
func (l ListerWatcher) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.Source.Watch(context.Background(), o)
}

// ListWithContext implements cache.ListerWatcherWithContext.
func (l ListerWatcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return l.Source.List(ctx, o)
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (l ListerWatcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return l.Source.Watch(ctx, o)
}

// IsWatchListSemanticsUnSupported returns true unless the source has a method Streams that returns true.
// Otherwise client-go would wait for a stream forever.
func (l ListerWatcher) IsWatchListSemanticsUnSupported() bool {
	s, ok := l.Source.(interface{ Streams() bool })
	return !ok || !s.Streams()
}
