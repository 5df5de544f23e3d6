package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A typed, a dynamic and a metadata factory with a common budget equal the server after churn, broken
// watches and an unknown version.
func TestScenario_PackedFactories(t *testing.T) {
	s := begin(t, harness.Options{})
	n := size(500, 20_000)
	s.createPods(n)
	proxy := s.proxy()
	const limit = 8 << 20
	s.storage = informer.Storage{Decoded: informer.NewBudget(limit)}
	ctx, cancel := context.WithCancel(context.Background())

	typed := newMirror[*corev1.Pod](s)
	typed.list = func(ctx context.Context) ([]*corev1.Pod, error) {
		list, err := s.admin.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		return pointers(list.Items), err
	}
	typedFactory := factory.NewSharedInformerFactoryWithOptions(
		kubernetes.NewForConfigOrDie(typed.counting(harness.Via(s.cluster.Config(), proxy.Address()))), 0, factory.WithStorage(s.storage))
	typed.of(factory.For[*corev1.Pod](typedFactory))

	// wired returns a config for clients without Go types. The reflector decodes their answers.
	wired := func(counting func(*rest.Config) *rest.Config) *rest.Config {
		config := counting(harness.Via(s.dynamicConfig(), proxy.Address()))
		config.Wrap(reflector.Wire)
		return config
	}
	untyped := newMirror[*unstructured.Unstructured](s)
	direct := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig())).Resource(podsResource)
	untyped.list = func(ctx context.Context) ([]*unstructured.Unstructured, error) {
		list, err := direct.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
	dynamicFactory := factory.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(wired(untyped.counting)), 0)
	dynamicFactory.SetStorage(s.storage)
	untyped.of(dynamicFactory.For(podsResource))

	metadatas := newMirror[*metav1.PartialObjectMetadata](s)
	directMetadata := metadata.NewForConfigOrDie(s.connect(s.dynamicConfig())).Resource(podsResource)
	metadatas.list = func(ctx context.Context) ([]*metav1.PartialObjectMetadata, error) {
		list, err := directMetadata.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
	metadataFactory := factory.NewMetadataSharedInformerFactory(metadata.NewForConfigOrDie(wired(metadatas.counting)), 0)
	metadataFactory.SetStorage(s.storage)
	metadatas.of(metadataFactory.For(podsResource))

	for _, f := range []interface {
		StartWithContext(context.Context)
		Shutdown()
	}{typedFactory, dynamicFactory, metadataFactory} {
		f.StartWithContext(ctx)
		t.Cleanup(f.Shutdown)
	}
	t.Cleanup(cancel)
	typed.watching()
	untyped.watching()
	metadatas.watching()

	part, written := size(4*time.Second, 30*time.Second), int64(0)
	during := func(fault func()) {
		c := s.churn(8, n, 2*time.Millisecond)
		fault()
		c.end()
		written += c.written.Load()
		s.heal()
		typed.converge()
		untyped.converge()
		metadatas.converge()
		require.LessOrEqual(t, s.storage.Decoded.Used(), int64(limit))
	}
	during(func() {
		for range 3 {
			s.sleep(part / 3)
			proxy.Cut()
		}
	})
	during(func() { // afterwards the server does not know the informers' version
		proxy.Refuse()
		proxy.Cut()
		s.sleep(part)
		s.must(s.cluster.RestartAPIServer(s.ctx))
		s.must(proxy.Admit())
	})
	bytes := func(st informer.Status) int64 {
		require.Zero(t, st.Storage.Pinned)
		require.NotZero(t, st.Relists)
		return st.Storage.Packed / int64(st.Objects)
	}
	s.note = fmt.Sprintf("%d writes; a packed pod takes %d B, without a Go type %d B, its metadata %d B", written,
		bytes(typed.informer.Status()), bytes(untyped.informer.Status()), bytes(metadatas.informer.Status()))
	t.Log(s.note)
	typed.settle()
}

// of makes a factory's informer the mirror's, and compares the view of a handler with it.
func (m *mirror[T]) of(i *informer.Informer[T], err error) {
	m.s.t.Helper()
	require.NoError(m.s.t, err)
	m.informer = i
	m.handle(newView[T]("every"), informer.HandlerOptions{})
}
