package main

import (
	"context"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// wire is a source whose objects are new each time that they are asked for, as
// if they had just been decoded: all memory in use is the informer's. It sends
// its state in pages, whoever asks, or in a stream.
type wire struct {
	pods   *population
	stream bool
	second atomic.Bool     // it is in its second state, in which one object in so many is newer
	opened chan *feedWatch // the watches, as they are asked for
}

func newWire(pods *population, stream bool) *wire {
	return &wire{pods: pods, stream: stream, opened: make(chan *feedWatch, watches)}
}

func (w *wire) Streaming() reflector.Streaming {
	if w.stream {
		return reflector.StreamingSupported
	}
	return reflector.StreamingUnsupported
}

// pageSize is the one that client-go asks for.
const pageSize = 500

func (w *wire) List(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if w.stream {
		return nil, errLists
	}
	from := 0
	if o.Continue != "" {
		var err error
		if from, err = strconv.Atoi(o.Continue); err != nil {
			return nil, err
		}
	}
	to := min(from+pageSize, w.pods.n)
	page := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: w.version()}, Items: make([]corev1.Pod, to-from)}
	for i := range page.Items {
		w.fill(&page.Items[i], from+i)
	}
	if to < w.pods.n {
		page.Continue = strconv.Itoa(to)
	}
	return page, nil
}

func (w *wire) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	opened, err := open(w.opened, watchBuffer)
	if err == nil && o.SendInitialEvents != nil && *o.SendInitialEvents {
		go w.send(opened)
	}
	return opened, err
}

// send sends the whole state.
func (w *wire) send(to *feedWatch) {
	for i := range w.pods.n {
		pod := new(corev1.Pod)
		w.fill(pod, i)
		to.events <- watch.Event{Type: watch.Added, Object: pod}
	}
	end := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: w.version(), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
	to.events <- watch.Event{Type: watch.Bookmark, Object: end}
}

func (w *wire) fill(pod *corev1.Pod, i int) {
	at := i
	if w.second.Load() && i%oneIn == 0 {
		at += w.pods.n
	}
	w.pods.fill(pod, i, version(at))
}

func (w *wire) version() string {
	if w.second.Load() {
		return version(2 * w.pods.n)
	}
	return version(w.pods.n)
}

// changed is how many objects differ in the second state.
func (w *wire) changed() int { return (w.pods.n + oneIn - 1) / oneIn }
