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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// without returns a copy of a source that leaves out the pods of one name.
func without(s Source, name string) Source {
	inner := s
	s.Send = nil
	s.List = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := inner.List(ctx, o)
		if pods, ok := list.(*corev1.PodList); ok {
			pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == name })
		}
		return list, err
	}
	s.Watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		all, err := inner.Watch(ctx, o)
		if err != nil {
			return nil, err
		}
		return watch.Filter(all, func(e watch.Event) (watch.Event, bool) {
			p, ok := e.Object.(*corev1.Pod)
			return e, !ok || p.Name != name
		}), nil
	}
	return s
}

// A wrapper's own List and Watch are called, though the answers of the source inside could be decoded here.
func TestAWrapperIsCalled(t *testing.T) {
	server := &scripted{
		lists: []string{podList("5", podText("a", "1", ""), podText("hidden", "2", ""))},
		event: []string{podEvent("ADDED", podText("hidden", "6", "")) + podEvent("ADDED", podText("c", "7", ""))},
	}
	sink := newTaking()
	reflectInto(t, without(server.serve(t), "hidden"), sink, Options{})
	require.Equal(t, "a", (<-sink.deltas).Key.Name)
	require.Equal(t, "c", (<-sink.deltas).Key.Name)
}

// The source of a client knows its resource and namespace, whether it streams, and what the reflector can decode.
func TestSourcesOfClients(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	dynamically, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	partially, err := metadata.NewForConfig(config)
	require.NoError(t, err)
	pods := client.CoreV1().Pods("ns")
	type known struct {
		resource  schema.GroupVersionResource
		namespace string
		streams   Streaming
		decoded   reflect.Type
	}
	none := schema.GroupVersionResource{}
	for name, row := range map[string]struct {
		source Source
		known
	}{
		"client":             {From(pods), known{none, "ns", StreamingSupported, nil}},
		"lister-watcher":     {FromListerWatcher(&cache.ListWatch{}), known{}},
		"generated":          {FromGenerated[*corev1.Pod](pods, podGVR), known{podGVR, "ns", StreamingSupported, typeOfPod}},
		"dynamic":            {FromDynamic(dynamically, podGVR, "ns"), known{podGVR, "ns", StreamingSupported, wire.Unstructured}},
		"metadata":           {FromMetadata(partially, podGVR, "ns"), known{podGVR, "ns", StreamingSupported, metadataType}},
		"controller-runtime": {FromControllerRuntime(&cache.ListWatch{}, &corev1.Pod{}), known{none, "", StreamingUnknown, typeOfPod}},
	} {
		s := row.source
		require.Equal(t, row.known, known{s.Resource, s.Namespace, s.Streams, decodes(s)}, name)
	}
}
