package reflector

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/metadata"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
	}
}

// semantics is a ListerWatcher that reports whether it can stream.
type semantics struct {
	*cache.ListWatch
	unsupported bool
}

func (s semantics) IsWatchListSemanticsUnSupported() bool { return s.unsupported }

// T16: clients of servers are distinguished from fakes, which cannot stream.
func TestContract_T16_Streaming(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1"}
	typed, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	untyped, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	partial, err := metadata.NewForConfig(config)
	require.NoError(t, err)
	fakes := fake.NewClientset()
	untypedFakes := dynamicfake.NewSimpleDynamicClient(kruntime.NewScheme())
	partialFakes := metadatafake.NewSimpleMetadataClient(metadatafake.NewTestScheme())

	for name, test := range map[string]struct {
		src  Source
		want Streaming
	}{
		"typed":                       {From(typed.CoreV1().Pods("ns")), StreamingSupported},
		"typed, of the cluster":       {From(typed.CoreV1().Nodes()), StreamingSupported},
		"typed fake":                  {From(fakes.CoreV1().Pods("")), StreamingUnsupported},
		"dynamic":                     {From(untyped.Resource(podResource)), StreamingSupported},
		"dynamic, of a namespace":     {From(untyped.Resource(podResource).Namespace("ns")), StreamingSupported},
		"dynamic fake":                {From(untypedFakes.Resource(podResource)), StreamingUnsupported},
		"dynamic fake of a namespace": {From(untypedFakes.Resource(podResource).Namespace("ns")), StreamingUnsupported},
		"metadata":                    {From(partial.Resource(podResource)), StreamingSupported},
		"metadata, of a namespace":    {From(partial.Resource(podResource).Namespace("ns")), StreamingSupported},
		"metadata fake":               {From(partialFakes.Resource(podResource)), StreamingUnsupported},
		"somebody's client":           {From[kruntime.Object](funcs{}), StreamingUnknown},
		"a bare ListWatch":            {FromListerWatcher(&cache.ListWatch{}), StreamingUnknown},
		"one that says yes":           {FromListerWatcher(semantics{nil, false}), StreamingSupported},
		"one that says no":            {FromListerWatcher(semantics{nil, true}), StreamingUnsupported},
		"client-go's, of a fake":      {FromListerWatcher(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{}, fakes)), StreamingUnsupported},
		"client-go's, of a client":    {FromListerWatcher(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{}, typed)), StreamingSupported},
	} {
		require.Equal(t, test.want, test.src.Streams, name)
	}
}

// mirror runs a reflector of src, calls change once it watches, and returns the deltas that the
// sink got.
func mirror[T any](t *testing.T, src Source, change func(context.Context) error) []string {
	t.Helper()
	var recorded []string
	synctest.Test(t, func(t *testing.T) {
		sink := &collector{}
		started := make(chan struct{})
		go func() {
			<-started
			require.NoError(t, change(t.Context()))
		}()
		runFor(t, time.Minute, src, sink, ofType[T](Options{Observe: func(e Event) {
			if _, ok := e.(WatchStarted); ok {
				close(started)
			}
		}}))
		for _, batch := range sink.batches {
			for _, d := range batch {
				recorded = append(recorded, d.Op.String()+" "+d.Key.String())
			}
		}
	})
	return recorded
}

func TestFromClients(t *testing.T) {
	want := []string{"added ns/a", "added ns/b"}
	create := metav1.CreateOptions{}
	t.Run("typed", func(t *testing.T) {
		c := fake.NewClientset(newPod("a")).CoreV1().Pods("ns")
		require.Equal(t, want, mirror[*corev1.Pod](t, From(c), func(ctx context.Context) error {
			_, err := c.Create(ctx, newPod("b"), create)
			return err
		}))
	})
	scheme := kruntime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	t.Run("dynamic", func(t *testing.T) {
		c := dynamicfake.NewSimpleDynamicClient(scheme, newPod("a")).Resource(podResource).Namespace("ns")
		require.Equal(t, want, mirror[*unstructured.Unstructured](t, From(c), func(ctx context.Context) error {
			content, err := kruntime.DefaultUnstructuredConverter.ToUnstructured(newPod("b"))
			require.NoError(t, err)
			_, err = c.Create(ctx, &unstructured.Unstructured{Object: content}, create)
			return err
		}))
	})
	t.Run("metadata", func(t *testing.T) {
		partial := func(name string) *partialObject {
			return &partialObject{TypeMeta: newPod("").TypeMeta, ObjectMeta: newPod(name).ObjectMeta}
		}
		scheme := metadatafake.NewTestScheme()
		require.NoError(t, metav1.AddMetaToScheme(scheme))
		c := metadatafake.NewSimpleMetadataClient(scheme, partial("a")).Resource(podResource).Namespace("ns")
		require.Equal(t, want, mirror[*partialObject](t, From[*metav1.PartialObjectMetadataList](c), func(context.Context) error {
			_, err := c.(metadatafake.MetadataClient).CreateFake(partial("b"), create)
			return err
		}))
	})
	t.Run("a ListerWatcher", func(t *testing.T) {
		c := fake.NewClientset(newPod("a")).CoreV1().Pods("ns")
		lw := semantics{&cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) { return c.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return c.Watch(ctx, o) },
		}, true}
		require.Equal(t, want, mirror[any](t, FromListerWatcher(lw), func(ctx context.Context) error {
			_, err := c.Create(ctx, newPod("b"), create)
			return err
		}))
	})
}

// A failed list returns nil, and not a nil pointer in an interface.
func TestFromReturnsNoTypedNil(t *testing.T) {
	c := fake.NewClientset()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	src := From(failing{c.CoreV1().Pods("")})
	obj, err := src.List(ctx, metav1.ListOptions{})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, obj)
}

type failing struct{ Client[*corev1.PodList] }

func (failing) List(ctx context.Context, _ metav1.ListOptions) (*corev1.PodList, error) {
	return nil, ctx.Err()
}

// D12: the reflector tries a stream from a bare ListWatch over a fake clientset, and lists after a
// second. client-go waits forever (B69: a stream without its end hangs the informer).
func TestContract_D12_BareListWatchOfAFake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fake.NewClientset(newPod("a")).CoreV1().Pods("ns")
		lw := &cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) { return c.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return c.Watch(ctx, o) },
		}
		sink := &collector{}
		var listed Listed
		runFor(t, time.Minute, FromListerWatcher(lw), sink, Options{Observe: func(e Event) {
			if l, ok := e.(Listed); ok {
				listed = l
			}
		}})
		require.Equal(t, OpList, listed.Operation)
		require.Equal(t, time.Second, listed.Took)
		require.Equal(t, deltafifo.Added, sink.batches[0][0].Op)
	})
}

// The options of each list and watch pass through the source's Tweak.
func TestTweak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		source := funcs{
			list: func(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) {
				asked = append(asked, fmt.Sprintf("list %q at %q", o.LabelSelector, o.ResourceVersion))
				return empty(ctx, o)
			},
			watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				asked = append(asked, fmt.Sprintf("watch %q at %q", o.LabelSelector, o.ResourceVersion))
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}.source()
		source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector += "app=x" }
		runFor(t, time.Minute, source, &collector{}, Options{})
		require.Equal(t, []string{`list "app=x" at "0"`, `watch "app=x" at "1"`}, asked)
	})
}

// A nil pointer is no client.
func TestNilPointersAreNoClients(t *testing.T) {
	for name, source := range map[string]Source{
		"typed":              From((*nilClient)(nil)),
		"generated":          FromGenerated[*corev1.Pod]((*nilClient)(nil), podGVR),
		"custom resource":    FromCustomResource[*corev1.Pod]((*nilClient)(nil), podGVR),
		"ListerWatcher":      FromListerWatcher((*cache.ListWatch)(nil)),
		"dynamic":            FromDynamic((*dynamic.DynamicClient)(nil), podGVR, ""),
		"metadata":           FromMetadata((*metadata.Client)(nil), podGVR, ""),
		"controller-runtime": FromControllerRuntime((*cache.ListWatch)(nil), &corev1.Pod{}),
	} {
		require.Equal(t, Source{}, source, name)
	}
}

// nilClient is a client that cannot be used as a nil pointer.
type nilClient struct{ Client[*corev1.PodList] }
