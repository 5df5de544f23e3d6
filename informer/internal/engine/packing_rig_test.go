package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// unverified switches verify mode off. Verify mode decodes packed objects more often, and panics if one cannot
// be decoded.
func unverified(t *testing.T) {
	t.Helper()
	on := verify.On
	verify.On = false
	t.Cleanup(func() { verify.On = on })
}

// packedCore returns a core that packs its objects with the same decoder as a program's informer, and the sink of
// its source.
func packedCore[T informer.Object](t *testing.T, o informer.Options[T]) (*informer.Informer[T], *engine.Sink) {
	t.Helper()
	if o.Storage.Decoded == nil {
		o.Storage.Decoded = informer.NewBudget(0)
	}
	o.Observe = rig.Observed
	i := informer.New(rig.SourceOf(rig.Silent{}), o)
	inside := coreOf(i)
	in := inside.Sink(0)
	inside.Reflect(rig.SourceOf(rig.Silent{}), in)
	return i, in
}

// storeIn puts an object into the store, in a delta of a source.
func storeIn(t *testing.T, c *engine.Core, obj apiObject) {
	t.Helper()
	key, _ := object.KeyOf(obj)
	batch := []deltafifo.Delta{{
		Op: deltafifo.Modified, Key: key, UID: string(obj.GetUID()), Version: obj.GetResourceVersion(), Object: obj,
		Stamp: object.StampOf(string(obj.GetUID())),
	}}
	inside := c
	inside.Pack(batch)
	inside.Apply(batch)
}

// apiObject is any API object.
type apiObject interface {
	metav1.Object
	runtime.Object
}

func podWith(name string, change func(p *corev1.Pod)) *corev1.Pod {
	p := kit.Pod(name, "1")
	change(p)
	return p
}

func unstructuredWith(name string, value any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Gadget", "spec": map[string]any{"value": value},
		"metadata": map[string]any{"namespace": "default", "name": name, "resourceVersion": "1", "uid": "uid-" + name},
	}}
}

// moody is a type whose own encoders fail.
type moody struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	mood func() ([]byte, error)
}

func (m *moody) DeepCopyObject() runtime.Object { c := *m; return &c }

func (m *moody) MarshalJSON() ([]byte, error) { return m.mood() }

func pinnedIn(c *engine.Core) int { return c.Status().Storage.Pinned }

func podAt(t *testing.T, c *engine.Core, name string) *corev1.Pod {
	t.Helper()
	p, ok := podsIn(c).Get(rig.Named(name))
	require.True(t, ok, name)
	return p
}
