package sim_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// life makes, starts and stops an informer. It does so once.
type life interface {
	start() *informer.Informer[*pod]
	stop() (ended <-chan struct{})
	close()
}

// ownInformer is an informer made without a factory.
type ownInformer struct {
	informer *informer.Informer[*pod]
	cancel   context.CancelFunc
	ended    chan struct{}
}

func newOwned(sources []reflector.Source, o informer.Options[*pod]) *ownInformer {
	return &ownInformer{informer: informer.Join(sources, o)}
}

func (l *ownInformer) start() *informer.Informer[*pod] {
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(context.Background())
	wait, err := l.informer.Start(ctx)
	if err != nil {
		panic(err)
	}
	ended := make(chan struct{})
	l.ended = ended
	go func() {
		defer close(ended)
		if err := wait(); err != nil {
			panic(err)
		}
	}()
	return l.informer
}

func (l *ownInformer) stop() <-chan struct{} {
	l.cancel()
	return l.ended
}

func (l *ownInformer) close() {}

// leasedInformer is a factory's informer with a permanent lease, which the handlers are added through.
type leasedInformer struct {
	factory *factory.Factory
	lease   *factory.Lease[*pod]
	cancel  context.CancelFunc
}

func newLeased(s *source, transform func(*pod) (*pod, error), storage informer.Storage) *leasedInformer {
	f := factory.NewSharedInformerFactoryWithOptions(clientset{sources: []*source{s}}, 0, factory.WithStorage(storage), factory.WithTransform(func(obj any) (any, error) {
		if transform == nil {
			return obj, nil
		}
		return transform(obj.(*pod))
	}))
	l := &leasedInformer{factory: f}
	l.lease = l.acquire()
	return l
}

func (l *leasedInformer) acquire() *factory.Lease[*pod] {
	lease, err := factory.Acquire[*pod](l.factory, factory.Scope{})
	if err != nil {
		panic(err)
	}
	return lease
}

// start starts the factory. It also acquires and releases other leases.
func (l *leasedInformer) start() *informer.Informer[*pod] {
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(context.Background())
	other := l.acquire()
	l.factory.StartWithContext(ctx)
	other.Release()
	l.acquire().Release()
	return l.lease.Informer()
}

func (l *leasedInformer) stop() <-chan struct{} {
	ended := l.lease.Informer().Done()
	l.cancel()
	return ended
}

func (l *leasedInformer) close() {
	l.lease.Release()
	l.factory.Shutdown()
}

// clientset is a client whose pods come from the source of their namespace.
type clientset struct {
	kubernetes.Interface
	sources []*source
}

type (
	coreClient struct {
		typedcorev1.CoreV1Interface
		sources []*source
	}
	podClient struct {
		typedcorev1.PodInterface
		source *source
	}
)

func (c clientset) CoreV1() typedcorev1.CoreV1Interface { return coreClient{sources: c.sources} }

func (c coreClient) Pods(namespace string) typedcorev1.PodInterface {
	for _, s := range c.sources {
		if s.namespace == namespace {
			return podClient{source: s}
		}
	}
	panic("the world is invalid: there is no namespace " + namespace)
}

func (c podClient) List(ctx context.Context, o metav1.ListOptions) (*corev1.PodList, error) {
	list, err := c.source.List(ctx, o)
	if err != nil {
		return nil, err
	}
	return list.(*corev1.PodList), nil
}

func (c podClient) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return c.source.Watch(ctx, o)
}

// IsWatchListSemanticsUnSupported is the method with which fake clientsets say that they cannot stream.
func (c podClient) IsWatchListSemanticsUnSupported() bool {
	return c.source.w.streaming == reflector.StreamingUnsupported
}
