package reflector_test

import (
	"context"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// seen collects what a reflector writes.
type seen struct {
	mu        sync.Mutex
	deltas    []deltafifo.Delta
	committed chan struct{}
	changed   chan struct{}
}

func (s *seen) Begin(context.Context, reflector.History) error { return nil }
func (s *seen) Abort(context.Context) error                    { return nil }

func (s *seen) Commit(context.Context, string) error {
	close(s.committed)
	return nil
}

func (s *seen) Write(_ context.Context, batch []deltafifo.Delta) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, d := range batch {
		if d.Op != deltafifo.Bookmark {
			s.deltas = append(s.deltas, d)
		}
		if d.Op == deltafifo.Modified {
			close(s.changed)
		}
	}
	return nil
}

// reflects returns the deltas written for a full state of two pods, and for a change of one of them.
func reflects(t *testing.T, source reflector.Source, o reflector.Options, change func()) []deltafifo.Delta {
	t.Helper()
	s := &seen{committed: make(chan struct{}), changed: make(chan struct{})}
	o.Observe = func(e reflector.Event) {
		switch e := e.(type) {
		case reflector.Failed:
			t.Log(e.Err)
		case reflector.Skipped:
			t.Error(e.Err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- reflector.New(source, s, o).Run(ctx) }()
	<-s.committed
	change()
	<-s.changed
	cancel()
	require.NoError(t, <-ended)
	return s.deltas
}

// unstreamed returns a copy of a source that cannot stream.
func unstreamed(s reflector.Source) reflector.Source {
	s.Streams = reflector.StreamingUnsupported
	return s
}

func pod(name, label string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"n": label}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	}
}

// The reflector decodes the same objects as client-go's client, including the kind in them: in
// lists, streams and watches.
func TestObjectsAreThoseOfTheClient(t *testing.T) {
	typed := func(config *rest.Config) (plain, here reflector.Source) {
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		pods := client.CoreV1().Pods("")
		return reflector.From(pods), reflector.FromGenerated[*corev1.Pod](pods, podResource)
	}
	dynamically := func(config *rest.Config) (plain, here reflector.Source) {
		config.Wrap(reflector.Wire)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return reflector.From(client.Resource(podResource)), reflector.FromDynamic(client, podResource, "")
	}
	ofMetadata := func(config *rest.Config) (plain, here reflector.Source) {
		config.Wrap(reflector.Wire)
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return reflector.From(client.Resource(podResource)), reflector.FromMetadata(client, podResource, "")
	}
	type sources func(*rest.Config) (plain, here reflector.Source)
	for _, row := range []struct {
		name    string
		content string
		sources sources
		example runtime.Object
	}{
		{"typed, protobuf", runtime.ContentTypeProtobuf, typed, &corev1.Pod{}},
		{"typed, as configured by default", "", typed, &corev1.Pod{}},
		{"typed, JSON", runtime.ContentTypeJSON, typed, &corev1.Pod{}},
		{"dynamic", "", dynamically, &unstructured.Unstructured{}},
		{"metadata", "", ofMetadata, &metav1.PartialObjectMetadata{}},
	} {
		for _, stream := range []string{"stream", "list"} {
			t.Run(row.name+", "+stream, func(t *testing.T) {
				server := informertest.New(informertest.Options{})
				defer server.Close()
				require.NoError(t, server.Start())
				for _, name := range []string{"a", "b"} {
					require.NoError(t, server.Create(t.Context(), pod(name, "1")))
				}
				config := server.ClientConfig()
				config.ContentType = row.content
				plain, here := row.sources(config)
				if stream == "list" {
					plain, here = unstreamed(plain), unstreamed(here)
				}
				o := reflector.Options{Type: reflect.TypeOf(row.example)}
				n := 1
				change := func() {
					n++
					require.NoError(t, server.Update(t.Context(), pod("a", string(rune('0'+n)))))
				}
				want := reflects(t, plain, o, change)
				got := reflects(t, here, o, change)
				require.Len(t, got, len(want))
				for i, w := range want {
					// The second run's full state contains the first run's change.
					for _, d := range []deltafifo.Delta{w, got[i]} {
						m := d.Object.(metav1.Object)
						m.SetResourceVersion("")
						m.SetLabels(nil)
						m.SetManagedFields(nil)
					}
					require.True(t, apiequality.Semantic.DeepEqual(w.Object, got[i].Object), "%#v\n%#v", w.Object, got[i].Object)
					require.Equal(t, w.Object.(runtime.Object).GetObjectKind().GroupVersionKind(), got[i].Object.(runtime.Object).GetObjectKind().GroupVersionKind())
				}
			})
		}
	}
}
