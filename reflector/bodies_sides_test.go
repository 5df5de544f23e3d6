package reflector_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

const (
	forList   request = "list"
	forStream request = "stream"
	forWatch  request = "watch"
)

// taken is one call of a store.
type taken struct {
	op      string
	objects []any
	version string
}

// side is what one library makes of an answer.
type side struct {
	calls   []taken
	failure error   // of the request under test
	ended   []error // client-go's: the errors that its watches brought
	watches sync.WaitGroup
	left    []error // ours: what it has reported and left out
	older   bool    // ours: it has found the history to be older than its own
}

// library is a kind of client: the source that each library makes of it.
type library struct {
	name     string
	object   runtime.Object
	protobuf bool
	theirs   func(namespace string) reflector.Source
	ours     func(namespace string) reflector.Source
}

func libraries(tb testing.TB, s *bodyServer) []library {
	typed := func(wire bool, contentType string) kubernetes.Interface {
		client, err := kubernetes.NewForConfig(s.config(wire, contentType))
		require.NoError(tb, err)
		return client
	}
	untyped := func(wire bool) dynamic.Interface {
		client, err := dynamic.NewForConfig(s.config(wire, ""))
		require.NoError(tb, err)
		return client
	}
	partial := func(wire bool) metadata.Interface {
		client, err := metadata.NewForConfig(s.config(wire, ""))
		require.NoError(tb, err)
		return client
	}
	generated, plain := typed(false, runtime.ContentTypeProtobuf), typed(false, runtime.ContentTypeProtobuf)
	dynamicPlain, dynamicWired := untyped(false), untyped(true)
	metadataPlain, metadataWired := partial(false), partial(true)
	return []library{
		{
			"generated", &corev1.Pod{}, true,
			func(ns string) reflector.Source { return reflector.From(plain.CoreV1().Pods(ns)) },
			func(ns string) reflector.Source {
				return reflector.FromGenerated[*corev1.Pod](generated.CoreV1().Pods(ns), podsResource)
			},
		},
		{
			"custom resource", &corev1.Pod{}, false,
			func(ns string) reflector.Source { return reflector.From(plain.CoreV1().Pods(ns)) },
			func(ns string) reflector.Source {
				return reflector.FromCustomResource[*corev1.Pod](generated.CoreV1().Pods(ns), podsResource)
			},
		},
		{
			"dynamic", &unstructured.Unstructured{}, false,
			func(ns string) reflector.Source {
				return reflector.From(dynamicPlain.Resource(podsResource).Namespace(ns))
			},
			func(ns string) reflector.Source { return reflector.FromDynamic(dynamicWired, podsResource, ns) },
		},
		{
			"metadata", &metav1.PartialObjectMetadata{}, true,
			func(ns string) reflector.Source {
				return reflector.From(metadataPlain.Resource(podsResource).Namespace(ns))
			},
			func(ns string) reflector.Source { return reflector.FromMetadata(metadataWired, podsResource, ns) },
		},
	}
}

// noted is a watch whose errors are noted.
type noted struct {
	watch.Interface
	events chan watch.Event
	ended  chan struct{}
	stop   sync.Once
}

func noteErrors(w watch.Interface, by *side) *noted {
	n := &noted{Interface: w, events: make(chan watch.Event), ended: make(chan struct{})}
	by.watches.Go(func() {
		defer close(n.events)
		for e := range w.ResultChan() {
			if e.Type == watch.Error {
				by.ended = append(by.ended, apierrors.FromObject(e.Object))
			}
			select {
			case n.events <- e:
			case <-n.ended:
				return
			}
		}
	})
	return n
}

func (n *noted) ResultChan() <-chan watch.Event { return n.events }

func (n *noted) Stop() {
	n.stop.Do(func() { close(n.ended) })
	n.Interface.Stop()
}

// asClient is a ListWatch that streams the initial state, or does not.
type asClient struct {
	*cache.ListWatch
	streams bool
}

func (c asClient) IsWatchListSemanticsUnSupported() bool { return !c.streams }

func (s *side) Add(object any) error {
	s.calls = append(s.calls, taken{"added", []any{object}, ""})
	return nil
}

func (s *side) Update(object any) error {
	s.calls = append(s.calls, taken{"modified", []any{object}, ""})
	return nil
}

func (s *side) Delete(object any) error {
	s.calls = append(s.calls, taken{"deleted", []any{object}, ""})
	return nil
}

func (s *side) Replace(objects []any, version string) error {
	s.calls = append(s.calls, taken{"replaced", objects, version})
	return nil
}

func (s *side) Resync() error { return nil }

// sinkSide records the calls of a sink as those of a store.
type sinkSide struct {
	*side
	streams bool
	staged  []any
	byName  map[string]any // of a stream
	full    bool
}

func (s *sinkSide) Begin(context.Context, reflector.History) error {
	s.staged, s.byName, s.full = []any{}, map[string]any{}, true
	return nil
}

func (s *sinkSide) Abort(context.Context) error {
	s.full = false
	return nil
}

func (s *sinkSide) Commit(_ context.Context, version string) error {
	s.full = false
	if s.streams {
		s.staged = slices.AppendSeq(s.staged, maps.Values(s.byName))
	}
	return s.Replace(s.staged, version)
}

func (s *sinkSide) Write(_ context.Context, batch []deltafifo.Delta) error {
	for _, d := range batch {
		switch {
		case d.Op == deltafifo.Bookmark, d.Op == deltafifo.Poisoned:
		case s.full && s.streams && d.Op == deltafifo.Deleted:
			delete(s.byName, d.Key.String())
		case s.full && s.streams:
			s.byName[d.Key.String()] = d.Object
		case s.full:
			s.staged = append(s.staged, d.Object)
		default:
			s.calls = append(s.calls, taken{d.Op.String(), []any{d.Object}, ""})
		}
	}
	return nil
}
