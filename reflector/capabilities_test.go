package reflector

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// without is a user's source that leaves out the pods of one name.
type without struct {
	Source
	name string
}

func (w without) Unwrap() Source { return w.Source }

func (w without) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := w.Source.List(ctx, o)
	if pods, ok := list.(*corev1.PodList); ok {
		pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == w.name })
	}
	return list, err
}

func (w without) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	all, err := w.Source.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	return watch.Filter(all, func(e watch.Event) (watch.Event, bool) {
		p, ok := e.Object.(*corev1.Pod)
		return e, !ok || p.Name != w.name
	}), nil
}

// A user's source around one whose answers are decoded here is called itself, for lists and for
// watches.
func TestAUsersSourceAroundAnotherIsCalled(t *testing.T) {
	server := &scripted{
		lists: []string{podList("5", podText("a", "1", ""), podText("hidden", "2", ""))},
		event: []string{podEvent("ADDED", podText("hidden", "6", "")) + podEvent("ADDED", podText("c", "7", ""))},
	}
	sink := newTaking()
	reflectInto(t, without{server.serve(t), "hidden"}, sink, Options{})
	require.Equal(t, "a", (<-sink.deltas).Key.Name)
	require.Equal(t, "c", (<-sink.deltas).Key.Name)
}

// Each source keeps what is known of the one it is around, but for what it changes. Only a user's
// source is not decoded here.
func TestCapabilitiesOfSourcesAroundOthers(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	dynamically, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	partially, err := metadata.NewForConfig(config)
	require.NoError(t, err)
	pods := client.CoreV1().Pods("ns")
	type known struct {
		namespace string
		streaming Streaming
		decoded   reflect.Type
	}
	of := func(s Source) known {
		return known{NamespaceOf(s), capabilitiesOf(s).streaming(), decodes(s)}
	}
	for name, inner := range map[string]struct {
		source Source
		known
	}{
		"client":             {From(pods), known{"ns", StreamingSupported, nil}},
		"lister-watcher":     {FromListerWatcher(&cache.ListWatch{}), known{}},
		"generated":          {FromGenerated[*corev1.Pod](pods, podGVR), known{"ns", StreamingSupported, typeOfPod}},
		"dynamic":            {FromDynamic(dynamically, podGVR, "ns"), known{"ns", StreamingSupported, wire.Unstructured}},
		"metadata":           {FromMetadata(partially, podGVR, "ns"), known{"ns", StreamingSupported, metadataType}},
		"controller-runtime": {FromControllerRuntime(&cache.ListWatch{}, &corev1.Pod{}), known{"", StreamingUnknown, typeOfPod}},
	} {
		require.Equal(t, inner.known, of(inner.source), name)
		listOnly, users := inner.known, inner.known
		listOnly.streaming = StreamingUnsupported
		users.streaming, users.decoded = StreamingUnknown, nil
		tweaked := Tweak(inner.source, func(*metav1.ListOptions) {})
		require.Equal(t, inner.known, of(tweaked), "%s, tweaked", name)
		require.Equal(t, listOnly, of(neverStreaming{tweaked}), "%s, listed", name)
		require.Equal(t, users, of(without{tweaked, ""}), "%s, in a user's source", name)
		require.Equal(t, users, of(Tweak(without{inner.source, ""}, func(*metav1.ListOptions) {})), "%s, in a user's source, tweaked", name)
	}
}
