package bench

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// stream is an initial state, and the events after it.
type stream struct {
	make   maker
	list   runtime.Object
	events []watch.Event
}

// BenchmarkEvent measures one MODIFIED event from the watch to the last handler.
func BenchmarkEvent(b *testing.B) {
	pods := stream{newPods, podList(perGroup), podEvents(perGroup)}
	for _, handlers := range []int{1, 4, 16} {
		byEach(b, fmt.Sprint(handlers), everyone, func(b *testing.B, impl string) { pods.deliver(b, impl, handlers) })
	}
}

// BenchmarkEventInspected measures the same with an inspector on the informer.
func BenchmarkEventInspected(b *testing.B) {
	pods := stream{newInspectedPods, podList(perGroup), podEvents(perGroup)}
	for _, handlers := range []int{1, 16} {
		byEach(b, fmt.Sprint(handlers), []string{typed, clientgoAPI}, func(b *testing.B, impl string) { pods.deliver(b, impl, handlers) })
	}
}

// BenchmarkEventUnstructured measures the same with the objects of the dynamic client.
func BenchmarkEventUnstructured(b *testing.B) {
	objects := unstructuredStream(b)
	byEach(b, "4", everyone, func(b *testing.B, impl string) { objects.deliver(b, impl, 4) })
}

// BenchmarkEventAll measures the same with all pods in turn.
func BenchmarkEventAll(b *testing.B) {
	pods := stream{newPods, podList(*objects), podEvents(*objects)}
	byEach(b, "1", everyone, func(b *testing.B, impl string) { pods.deliver(b, impl, 1) })
}

func (st stream) deliver(b *testing.B, impl string, handlers int) {
	f := newFeed(st.list)
	s := start(b, st.make(impl, f), newCounters(handlers, tally{adds: meta.LenList(st.list), updates: b.N})...)
	w := s.awaitSync(f.opened)

	measure(b, func() {
		go w.play(st.events, b.N)
		s.awaitUpdates()
	})

	last := st.events[(b.N-1)%len(st.events)].Object
	require.Same(b, last, s.get(keyOf(b, last)), "the store does not have the last object")
	s.stop()
}

func keyOf(b *testing.B, obj runtime.Object) indexer.Key {
	m, err := meta.Accessor(obj)
	require.NoError(b, err)
	return indexer.Key{Namespace: m.GetNamespace(), Name: m.GetName()}
}

// podEvents changes a number of pods in turn.
func podEvents(pods int) []watch.Event {
	c := &changer{list: podList(pods)}
	all := make([]watch.Event, *events)
	for i := range all {
		all[i] = c.next()
	}
	return all
}

func unstructuredStream(b *testing.B) stream {
	pods := podList(perGroup)
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "PodList"}}
	list.SetResourceVersion(pods.ResourceVersion)
	for i := range pods.Items {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pods.Items[i])
		require.NoError(b, err)
		object["apiVersion"], object["kind"] = "v1", "Pod"
		list.Items = append(list.Items, unstructured.Unstructured{Object: object})
	}
	played := make([]watch.Event, *events)
	for i := range played {
		object := &list.Items[i%len(list.Items)]
		played[i] = watch.Event{Type: watch.Modified, Object: revised(object, version(len(list.Items)+1+i))}
	}
	return stream{newUnstructured, list, played}
}

// revised returns a copy with another version. It shares all other fields.
func revised(object *unstructured.Unstructured, version string) *unstructured.Unstructured {
	copied := &unstructured.Unstructured{Object: maps.Clone(object.Object)}
	copied.Object["metadata"] = maps.Clone(object.Object["metadata"].(map[string]any))
	copied.SetResourceVersion(version)
	return copied
}
