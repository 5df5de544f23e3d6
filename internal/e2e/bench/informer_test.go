package bench

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// The names of the implementations in benchmarks.
const (
	clientgo    = "client-go"    // cache.NewSharedIndexInformer
	typed       = "typed"        // informer.New
	clientgoAPI = "clientgo-api" // tidemark's cache.NewSharedIndexInformer
)

var everyone = []string{clientgo, typed, clientgoAPI}

// byEach runs a benchmark for each implementation.
func byEach(b *testing.B, name string, impls []string, f func(b *testing.B, impl string)) {
	for _, impl := range impls {
		b.Run(name+"/impl="+impl, func(b *testing.B) { f(b, impl) })
	}
}

// subject is an informer with an index by namespace.
type subject interface {
	handle(*counter) error
	run(context.Context) error
	get(indexer.Key) any
}

// shared is client-go's informer, or tidemark's with client-go's interface.
type shared struct {
	cache.SharedIndexInformer
	lister corelisters.PodLister
}

func (s shared) handle(c *counter) error {
	_, err := s.AddEventHandlerWithResyncPeriod(c.shared(), c.resync)
	return err
}

func (s shared) run(ctx context.Context) error {
	s.RunWithContext(ctx)
	return nil
}

func (s shared) get(key indexer.Key) any {
	obj, _, _ := s.GetIndexer().GetByKey(key.String()) // never returns an error
	return obj
}

// own is tidemark's informer with the typed API.
type own[T informer.Object] struct{ *informer.Informer[T] }

func (s own[T]) handle(c *counter) error {
	_, err := s.Handle(counting[T](c), informer.HandlerOptions{Delivery: c.delivery, Resync: c.resync})
	return err
}

func (s own[T]) run(ctx context.Context) error { return s.Run(ctx) }

func (s own[T]) get(key indexer.Key) any {
	obj, _ := s.Indexer().Get(key)
	return obj
}

// maker makes an informer that reads a source.
type maker func(impl string, from origin) subject

func newPods(impl string, from origin) subject {
	return newSubject[*corev1.Pod](impl, from, &corev1.Pod{}, 0)
}

// newInspectedPods makes an informer of tidemark with an inspector.
func newInspectedPods(impl string, from origin) subject {
	s := newPods(impl, from)
	switch made := s.(type) {
	case shared:
		if ours, ok := informer.SharedOf(made.SharedIndexInformer); ok {
			ours.Inspector()
		}
	case own[*corev1.Pod]:
		made.Inspector()
	}
	return s
}

// newResyncingPods makes an informer whose handlers can have resyncs.
func newResyncingPods(impl string, from origin) subject {
	return newSubject[*corev1.Pod](impl, from, &corev1.Pod{}, resyncPeriod)
}

func newUnstructured(impl string, from origin) subject {
	return newSubject[*unstructured.Unstructured](impl, from, &unstructured.Unstructured{}, 0)
}

func newSubject[T informer.Object](impl string, from origin, example runtime.Object, resync time.Duration) subject {
	var made cache.SharedIndexInformer
	switch impl {
	case typed:
		source := reflector.Source{List: from.List, Watch: from.Watch, Streams: from.Streaming()}
		return own[T]{informer.New(source, informer.Options[T]{Resource: schema.GroupResource{Resource: "pods"}})}
	case clientgo:
		made = cache.NewSharedIndexInformer(kit.ListerWatcher{Source: from}, example, resync, byNamespace())
	case clientgoAPI:
		made = tidecache.NewSharedIndexInformer(kit.ListerWatcher{Source: from}, example, resync, byNamespace())
	}
	return shared{made, corelisters.NewPodLister(made.GetIndexer())}
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// newFactoryPods makes an informer and a lister with client-go's or tidemark's factory.
func newFactoryPods(impl string, from origin) subject {
	var f informers.SharedInformerFactory
	if impl == clientgo {
		f = informers.NewSharedInformerFactory(podClient{from: from}, 0)
	} else {
		f = factory.NewSharedInformerFactory(podClient{from: from}, 0)
	}
	pods := f.Core().V1().Pods()
	return shared{pods.Informer(), pods.Lister()}
}

// podClient is a clientset whose pods come from a source.
type podClient struct {
	kubernetes.Interface
	typedcorev1.CoreV1Interface
	typedcorev1.PodInterface
	from origin
}

func (c podClient) CoreV1() typedcorev1.CoreV1Interface { return c }

func (c podClient) Pods(string) typedcorev1.PodInterface { return c }

func (podClient) IsWatchListSemanticsUnSupported() bool { return true }

func (c podClient) List(ctx context.Context, o metav1.ListOptions) (*corev1.PodList, error) {
	list, err := c.from.List(ctx, o)
	if err != nil {
		return nil, err
	}
	return list.(*corev1.PodList), nil
}

func (c podClient) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return c.from.Watch(ctx, o)
}

// started is a running informer with its handlers.
type started struct {
	subject
	b        *testing.B
	counters []*counter
	cancel   context.CancelFunc
	ended    chan error
}

// start runs an informer with some handlers.
func start(b *testing.B, s subject, handlers ...*counter) *started {
	ctx, cancel := context.WithCancel(context.Background())
	r := &started{subject: s, b: b, cancel: cancel, ended: make(chan error, 1)}
	for _, c := range handlers {
		r.join(c)
	}
	go func() { r.ended <- s.run(ctx) }()
	return r
}

// join adds a handler.
func (r *started) join(c *counter) {
	r.counters = append(r.counters, c)
	require.NoError(r.b, r.handle(c))
}

// awaitAdds waits until each handler has received its expected adds.
func (r *started) awaitAdds() {
	for _, c := range r.counters {
		if c.want.adds > 0 {
			await(r.b, c.added)
		}
	}
}

// awaitUpdates waits until each handler has received its expected updates.
func (r *started) awaitUpdates() {
	for _, c := range r.counters {
		if c.want.updates > 0 {
			await(r.b, c.updated)
		}
	}
}

// awaitSync waits until each handler has received the initial state, and returns the informer's watch.
func (r *started) awaitSync(opened <-chan *feedWatch) *feedWatch {
	r.awaitAdds()
	return await(r.b, opened)
}

// stop stops the informer, and compares the handlers' calls with the expected calls.
func (r *started) stop() {
	r.cancel()
	require.NoError(r.b, await(r.b, r.ended))
	for _, c := range r.counters {
		c.check(r.b)
	}
}

// await waits for a value.
func await[T any](b testing.TB, from <-chan T) (v T) {
	const patience = 5 * time.Minute
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v = <-from:
	case <-timer.C:
		b.Fatalf("no result after %v", patience)
	}
	return v
}
