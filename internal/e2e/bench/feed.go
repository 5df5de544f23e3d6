package main

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// feed is a source in memory. Its lists share their items, which no informer
// changes or keeps; its watches bring what they are told to play.
type feed struct {
	list   atomic.Pointer[runtime.Object]
	opened chan *feedWatch // the watches, as they are asked for
	buffer int             // of the watches, in events
}

// origin is what an informer mirrors, of whichever implementation.
type origin interface {
	reflector.Source
	reflector.Streamer
}

// watches is how many times an informer may ask for a watch: nothing that it is
// given here is a reason for many.
const watches = 4

func newFeed(list runtime.Object) *feed {
	f := &feed{opened: make(chan *feedWatch, watches), buffer: watchBuffer}
	f.answer(list)
	return f
}

// answer sets what is listed next; nil for nothing, so that a list that is not
// needed any more is garbage.
func (f *feed) answer(list runtime.Object) { f.list.Store(&list) }

func (f *feed) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	switch list := (*f.list.Load()).(type) {
	case *corev1.PodList:
		header := *list
		return &header, nil
	case *unstructured.UnstructuredList:
		header := *list
		return &header, nil
	}
	return nil, errLists
}

func (f *feed) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return open(f.opened, f.buffer)
}

// open makes a watch and tells of it.
func open(opened chan<- *feedWatch, buffer int) (*feedWatch, error) {
	w := &feedWatch{events: make(chan watch.Event, buffer)}
	select {
	case opened <- w:
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

// listerWatcher is an origin as client-go sees it.
type listerWatcher struct{ origin }

var _ interface {
	cache.ListerWatcher
	cache.ListerWatcherWithContext
} = listerWatcher{}

func (l listerWatcher) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.origin.List(context.Background(), o)
}

func (l listerWatcher) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.origin.Watch(context.Background(), o)
}

func (l listerWatcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return l.origin.List(ctx, o)
}

func (l listerWatcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return l.origin.Watch(ctx, o)
}

// IsWatchListSemanticsUnSupported keeps client-go from waiting for a stream
// that does not come.
func (l listerWatcher) IsWatchListSemanticsUnSupported() bool {
	return l.Streaming() == reflector.StreamingUnsupported
}
