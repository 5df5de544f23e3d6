package bench

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var (
	errWatches = errors.New("the informer opens too many watches")
	errLists   = errors.New("the informer lists without a reason")
)

// origin is the source of an informer, for all implementations.
type origin interface {
	kit.Source
	Streaming() reflector.Streaming
}

// feed is a source in memory. Its lists share their items, because informers neither change nor keep an
// item. Its watches send the events that a benchmark plays.
type feed struct {
	list   atomic.Pointer[runtime.Object]
	opened chan *feedWatch // the watches in the order of the requests
	buffer int             // the number of events that watches buffer
}

// mostWatches is the largest number of watches that an informer opens in a benchmark.
const mostWatches = 4

func newFeed(list runtime.Object) *feed {
	f := &feed{opened: make(chan *feedWatch, mostWatches), buffer: watchBuffer}
	f.answer(list)
	return f
}

// answer sets the next list. answer(nil) makes the list garbage.
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

// open makes a watch and reports it.
func open(opened chan<- *feedWatch, buffer int) (*feedWatch, error) {
	w := &feedWatch{events: make(chan watch.Event, buffer)}
	select {
	case opened <- w:
		return w, nil
	default:
		return nil, errWatches
	}
}

// Streaming makes informers list.
func (*feed) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

// watchBuffer is the number of events that a watch buffers, like a connection.
const watchBuffer = 1024

type feedWatch struct {
	events chan watch.Event
	once   sync.Once
}

func (w *feedWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop must not be called while events are played.
func (w *feedWatch) Stop() { w.once.Do(func() { close(w.events) }) }

// play sends n events. After the last event it continues with the first one.
func (w *feedWatch) play(events []watch.Event, n int) {
	for n > 0 {
		for _, e := range events[:min(n, len(events))] {
			w.events <- e
		}
		n -= len(events)
	}
}

// expire ends the watch with 410, so that the informer relists.
func (w *feedWatch) expire() {
	w.events <- watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}}
}

// paged is a source that makes new objects for each request, like a decoder, so that all used memory is
// the informer's. It sends its state in pages or in a stream.
type paged struct {
	pods   *population
	stream bool
	second atomic.Bool // send the second state, in which one object in oneIn is newer
	opened chan *feedWatch
}

func newPaged(pods *population, stream bool) *paged {
	return &paged{pods: pods, stream: stream, opened: make(chan *feedWatch, mostWatches)}
}

func (p *paged) Streaming() reflector.Streaming {
	if p.stream {
		return reflector.StreamingSupported
	}
	return reflector.StreamingUnsupported
}

// Streams is Streaming for client-go.
func (p *paged) Streams() bool { return p.stream }

func (p *paged) List(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	const size = 500 // the limit that client-go asks for
	if p.stream {
		return nil, errLists
	}
	from := 0
	if o.Continue != "" {
		var err error
		if from, err = strconv.Atoi(o.Continue); err != nil {
			return nil, err
		}
	}
	to := min(from+size, p.pods.n)
	page := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: p.version()}, Items: make([]corev1.Pod, to-from)}
	for i := range page.Items {
		p.fill(&page.Items[i], from+i)
	}
	if to < p.pods.n {
		page.Continue = strconv.Itoa(to)
	}
	return page, nil
}

func (p *paged) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	opened, err := open(p.opened, watchBuffer)
	if err == nil && o.SendInitialEvents != nil && *o.SendInitialEvents {
		go p.send(opened)
	}
	return opened, err
}

// send sends the whole state.
func (p *paged) send(to *feedWatch) {
	for i := range p.pods.n {
		pod := new(corev1.Pod)
		p.fill(pod, i)
		to.events <- watch.Event{Type: watch.Added, Object: pod}
	}
	end := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: p.version(), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
	to.events <- watch.Event{Type: watch.Bookmark, Object: end}
}

func (p *paged) fill(pod *corev1.Pod, i int) {
	at := i
	if p.second.Load() && i%oneIn == 0 {
		at += p.pods.n
	}
	p.pods.fill(pod, i, version(at))
}

func (p *paged) version() string {
	if p.second.Load() {
		return version(2 * p.pods.n)
	}
	return version(p.pods.n)
}
