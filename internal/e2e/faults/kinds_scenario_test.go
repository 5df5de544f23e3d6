package faults

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var (
	podsResource    = corev1.SchemeGroupVersion.WithResource("pods")
	crdsResource    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgetsResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// dynamicConfig returns the administrator's config for clients of objects without a protobuf encoding.
func (s *scenario) dynamicConfig() *rest.Config {
	config := s.cluster.Config()
	config.ContentConfig = rest.ContentConfig{}
	return config
}

// createCRD creates the kind Widget and waits until the server serves it.
func (s *scenario) createCRD(client dynamic.Interface) {
	s.t.Helper()
	s.createKind(client, widgetsResource, "Widget")
}

// createKind creates a kind whose objects may have any fields, and waits until the server serves it.
func (s *scenario) createKind(client dynamic.Interface, resource schema.GroupVersionResource, kind string) {
	s.t.Helper()
	crd := object(crdsResource, "CustomResourceDefinition", resource.GroupResource().String())
	crd.Object["spec"] = map[string]any{
		"group": resource.Group, "scope": "Namespaced",
		"names": map[string]any{"plural": resource.Resource, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
		"versions": []any{map[string]any{
			"name": resource.Version, "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		}},
	}
	s.eventually("the CRD is created", func() error {
		_, err := client.Resource(crdsResource).Create(s.ctx, crd, metav1.CreateOptions{})
		return err
	})
	s.eventually("the CRD is served", func() error {
		_, err := client.Resource(resource).List(s.ctx, metav1.ListOptions{})
		return err
	})
}

// object returns an object that has only a name.
func object(resource schema.GroupVersionResource, kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": name},
	}}
}

// createWidgets creates n widgets, each with a random payload of the given size.
func (s *scenario) createWidgets(client dynamic.Interface, n, bytes int) {
	s.t.Helper()
	noise := make([]byte, bytes/2)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	payload := hex.EncodeToString(noise)
	s.must(harness.Each(s.ctx, 4, n, func(ctx context.Context, i int) error {
		w := object(widgetsResource, "Widget", fmt.Sprint("widget-", i))
		w.SetLabels(map[string]string{"serial": fmt.Sprint(i)})
		w.Object["spec"] = map[string]any{"payload": payload}
		_, err := client.Resource(widgetsResource).Namespace("default").Create(ctx, w, metav1.CreateOptions{})
		return err
	}))
}

// widgets returns a mirror of all widgets. It is not started yet.
func (s *scenario) widgets(config *rest.Config, client dynamic.Interface) *mirror[*unstructured.Unstructured] {
	m := newMirror[*unstructured.Unstructured](s)
	m.list = func(ctx context.Context) ([]*unstructured.Unstructured, error) {
		list, err := client.Resource(widgetsResource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil // without the kind there are no objects
		}
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
	m.informer = informer.New[*unstructured.Unstructured](
		reflector.From(dynamic.NewForConfigOrDie(m.counting(config)).Resource(widgetsResource)), m.options())
	return m
}

func TestScenario_CRDComesAndGoes(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	client := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	m := s.widgets(s.dynamicConfig(), client)
	m.start()
	_ = m.failing(apierrors.IsNotFound)

	s.createCRD(client)
	s.createWidgets(client, 50, 100)
	s.heal()
	m.converge()

	s.must(client.Resource(crdsResource).Delete(s.ctx, "widgets.example.com", metav1.DeleteOptions{}))
	s.eventually("the kind is gone", func() error {
		_, err := client.Resource(widgetsResource).List(s.ctx, metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			return errorOr(err)
		}
		return nil
	})
	m.converge()
	_ = m.failing(apierrors.IsNotFound)

	s.createCRD(client)
	s.createWidgets(client, 30, 100)
	s.heal()
	m.settle()
	s.budget(60)
}

// etcd accepts at most 1.5 MiB per write.
func TestScenario_LargeObjects(t *testing.T) {
	s := begin(t, harness.Options{})
	client := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	s.createCRD(client)
	n := size(10, 100)
	s.createWidgets(client, n, 1_400_000)
	proxy := s.proxy()
	s.heal()
	m := s.widgets(harness.Via(s.dynamicConfig(), proxy.Address()), client)
	m.start()
	m.watching()
	proxy.Truncate(2_000_000)
	for i := range n {
		_, err := client.Resource(widgetsResource).Namespace("default").
			Patch(s.ctx, fmt.Sprint("widget-", i), types.MergePatchType, []byte(`{"metadata":{"labels":{"round":"7"}}}`), metav1.PatchOptions{})
		s.must(err)
	}
	m.settle()
	s.budget(5)
	require.Positive(t, m.requests.Watches.Load(), "the watch was broken in the middle of an object")
	require.Zero(t, m.informer.Status().Relists)
}

func TestScenario_ManyNamespaces(t *testing.T) {
	s := begin(t, harness.Options{})
	n := size(200, 2000)
	s.must(harness.CreatePods(s.ctx, s.admin, 2*n, n))
	s.heal()
	m := s.watchPods(s.cluster.Config())
	joined := s.joined(size(20, 100))
	m.watching()
	joined.watching()
	s.churnIn(n)
	joined.converge()
	m.settle()
	s.budget(1 + 2*size(20, 100))
}

// joined returns a mirror of the pods of n namespaces. Its single informer has a source for each
// namespace.
func (s *scenario) joined(n int) *mirror[*corev1.Pod] {
	m := newMirror[*corev1.Pod](s)
	m.indexes = podIndexes
	client := kubernetes.NewForConfigOrDie(m.counting(s.cluster.Config()))
	var sources []reflector.Source
	for i := range n {
		sources = append(sources, reflector.From(client.CoreV1().Pods(harness.Namespace(i))))
	}
	m.list = func(ctx context.Context) ([]*corev1.Pod, error) {
		var some []*corev1.Pod
		for i := range n {
			list, err := s.admin.CoreV1().Pods(harness.Namespace(i)).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			some = append(some, pointers(list.Items)...)
		}
		return some, nil
	}
	m.informer = informer.Join[*corev1.Pod](sources, m.options())
	m.start()
	return m
}

// churnIn deletes or changes a pod in each of n namespaces.
func (s *scenario) churnIn(n int) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, harness.Creators, n, func(ctx context.Context, i int) error {
		pods := s.admin.CoreV1().Pods(harness.Namespace(i))
		if i%3 == 0 {
			return pods.Delete(ctx, harness.PodName(i), now)
		}
		_, err := pods.Patch(ctx, harness.PodName(i), types.MergePatchType, []byte(`{"metadata":{"annotations":{"round":"1"}}}`), metav1.PatchOptions{})
		return err
	}))
}

func TestScenario_DynamicAndMetadata(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	ctx, cancel := context.WithCancel(context.Background())
	whole := s.dynamicPods(ctx)
	meta := s.metadataPods(ctx)
	typed := s.watchPods(s.cluster.Config())
	t.Cleanup(cancel)
	whole.synced()
	meta.synced()
	typed.synced()
	c := s.churn(8, somePods, 2*time.Millisecond)
	s.sleep(size(5*time.Second, 30*time.Second))
	c.end()
	s.heal()
	whole.converge()
	meta.converge()
	typed.settle()
	s.budget(3 * 3) // per namespace a stream, plus a list and a watch if the stream was slow
}

func (s *scenario) dynamicPods(ctx context.Context) *mirror[*unstructured.Unstructured] {
	s.t.Helper()
	m := newMirror[*unstructured.Unstructured](s)
	direct := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	m.list = func(ctx context.Context) ([]*unstructured.Unstructured, error) {
		list, err := direct.Resource(podsResource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
	f := factory.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(m.counting(s.dynamicConfig())), 0)
	var ok bool
	m.informer, ok = informer.As[*unstructured.Unstructured](f.ForResource(podsResource).Informer())
	require.True(s.t, ok)
	m.handle(newView[*unstructured.Unstructured]("dynamic"), informer.HandlerOptions{})
	f.StartWithContext(ctx)
	s.t.Cleanup(f.Shutdown)
	return m
}

func (s *scenario) metadataPods(ctx context.Context) *mirror[*metav1.PartialObjectMetadata] {
	s.t.Helper()
	m := newMirror[*metav1.PartialObjectMetadata](s)
	direct := metadata.NewForConfigOrDie(s.connect(s.cluster.Config()))
	m.list = func(ctx context.Context) ([]*metav1.PartialObjectMetadata, error) {
		list, err := direct.Resource(podsResource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
	f := factory.NewMetadataSharedInformerFactory(metadata.NewForConfigOrDie(m.counting(s.cluster.Config())), 0)
	var ok bool
	m.informer, ok = informer.As[*metav1.PartialObjectMetadata](f.ForResource(podsResource).Informer())
	require.True(s.t, ok)
	m.handle(newView[*metav1.PartialObjectMetadata]("metadata"), informer.HandlerOptions{})
	f.StartWithContext(ctx)
	s.t.Cleanup(f.Shutdown)
	return m
}
