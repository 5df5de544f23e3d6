package informer

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// With HandlerName the handlers of client-go's API have its name and a number; those of the typed API keep theirs.
func TestHandlersAreNamedByTheOption(t *testing.T) {
	i := New(sourceOf(newScript("1")), Options[*corev1.Pod]{HandlerName: "Pod"})
	for range 2 {
		_, err := i.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
		require.NoError(t, err)
	}
	_, err := i.Handle(Funcs[*corev1.Pod]{Added: func(*corev1.Pod) {}}, HandlerOptions{Name: "typed"})
	require.NoError(t, err)
	var names []string
	for _, h := range i.Status().Handlers {
		names = append(names, h.Name)
	}
	require.Equal(t, []string{"Pod 1", "Pod 2", "typed"}, names)
}
