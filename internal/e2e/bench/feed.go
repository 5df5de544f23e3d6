package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// feed is a source in memory. Its lists share their items, which no informer
// changes or keeps; its watches bring what they are told to play.
type feed struct {
	list   atomic.Pointer[corev1.PodList]
	opened chan *feedWatch // the watches, as they are asked for
}

// watches is how many times an informer may ask for a watch: nothing that it is
// given here is a reason for many.
const watches = 4

var errWatches = errors.New("the informer asks for watch after watch")

func newFeed(list *corev1.PodList) *feed {
	f := &feed{opened: make(chan *feedWatch, watches)}
	f.list.Store(list)
	return f
}

func (f *feed) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	list := *f.list.Load()
	return &list, nil
}

func (f *feed) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	w := &feedWatch{events: make(chan watch.Event, watchBuffer)}
	select {
	case f.opened <- w:
		return w, nil
	default:
		return nil, errWatches
	}
}

// Streaming makes a feed the source of a tidemark informer that lists.
func (*feed) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

// watchBuffer is how far a watch may be ahead of its reader: what has arrived
// in a connection and is not read yet.
const watchBuffer = 1024

// feedWatch is one watch.
type feedWatch struct {
	events chan watch.Event
	once   sync.Once
}

func (w *feedWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop must not be called while events are played.
func (w *feedWatch) Stop() { w.once.Do(func() { close(w.events) }) }

func (w *feedWatch) play(events []watch.Event) {
	for _, e := range events {
		w.events <- e
	}
}

// expire ends the watch as a server does that has forgotten the version, so
// that the informer lists again.
func (w *feedWatch) expire() {
	w.events <- watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}}
}

// listerWatcher is a feed as client-go sees it.
type listerWatcher struct{ feed *feed }

var _ interface {
	cache.ListerWatcher
	cache.ListerWatcherWithContext
} = listerWatcher{}

func (l listerWatcher) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.feed.List(context.Background(), o)
}

func (l listerWatcher) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.feed.Watch(context.Background(), o)
}

func (l listerWatcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return l.feed.List(ctx, o)
}

func (l listerWatcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return l.feed.Watch(ctx, o)
}

// IsWatchListSemanticsUnSupported keeps client-go from waiting for a stream.
func (listerWatcher) IsWatchListSemanticsUnSupported() bool { return true }
