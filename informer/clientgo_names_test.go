package informer_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// With HandlerName the handlers of client-go's API have its name and a number; those of the typed API keep theirs.
func TestHandlersAreNamedByTheOption(t *testing.T) {
	i := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{HandlerName: "Pod"})
	for range 2 {
		_, err := i.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
		require.NoError(t, err)
	}
	_, err := i.Handle(informer.Funcs[*corev1.Pod]{Added: func(*corev1.Pod) {}}, informer.HandlerOptions{Name: "typed"})
	require.NoError(t, err)
	var names []string
	for _, h := range i.Status().Handlers {
		names = append(names, h.Name)
	}
	require.Equal(t, []string{"Pod 1", "Pod 2", "typed"}, names)
}

// A handler is named after the code of its functions or, without functions, after its type.
func TestNamesOfHandlers(t *testing.T) {
	i, f := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{}), func(any) {}
	nameOf := func(h cache.ResourceEventHandler) string {
		_, err := i.Shared().AddEventHandler(h)
		require.NoError(t, err)
		handlers := i.Status().Handlers
		return handlers[len(handlers)-1].Name
	}
	for want, h := range map[string]cache.ResourceEventHandler{
		"github.com/tidemark-k8s/tidemark/informer_test.TestNamesOfHandlers": cache.ResourceEventHandlerFuncs{AddFunc: f, DeleteFunc: func(any) {}},
		"k8s.io/client-go/tools/cache.ResourceEventHandlerFuncs":             cache.ResourceEventHandlerFuncs{},
		"k8s.io/client-go/tools/cache.FilteringResourceEventHandler":         cache.FilteringResourceEventHandler{},
	} {
		require.Equal(t, want, nameOf(h))
	}
	two := &cache.ResourceEventHandlerFuncs{AddFunc: f, UpdateFunc: elsewhereUpdate}
	require.Contains(t, nameOf(two), "+")
	require.Contains(t, nameOf(two), "elsewhereUpdate")
}

func elsewhereUpdate(_, _ any) {}

// An informer of objects that may be of any kind is named after its kind: a log with many of them tells them apart.
func TestInformersAreNamedAfterTheirKinds(t *testing.T) {
	widget := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	loose, partial := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	loose.SetGroupVersionKind(widget)
	partial.SetGroupVersionKind(widget)
	for example, name := range map[runtime.Object]string{
		&corev1.Pod{}: "*v1.Pod", loose: widget.String(), partial: widget.String(), &unstructured.Unstructured{}: "*unstructured.Unstructured",
	} {
		i, ok := informer.SharedOf(informer.ForControllerRuntime(&cache.ListWatch{}, example, 0, nil))
		require.True(t, ok)
		require.Equal(t, name, i.Status().Name)
	}
}
