package controllerruntime

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// marked returns a transform that sets a label.
func marked(with string) toolscache.TransformFunc {
	return func(o any) (any, error) {
		o.(client.Object).SetLabels(map[string]string{"by": with})
		return o, nil
	}
}

func TestTransforms(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		one := pod("a", "one", "web")
		r.create(t, one, pod("b", "one", "web"), node("n1"))
		c := r.started(t, cache.Options{
			DefaultTransform: marked("default"),
			ByObject: map[client.Object]cache.ByObject{f.pod(): {
				Transform:  marked("kind"),
				Namespaces: map[string]cache.Config{"a": {}, "b": {Transform: marked("namespace")}},
			}},
		})
		by := func(o client.Object) string { return o.GetLabels()["by"] }
		assert.Equal(t, "kind", by(f.get(t, c, "a", "one")))
		assert.Equal(t, "namespace", by(f.get(t, c, "b", "one")))
		var n corev1.Node
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "n1"}, &n))
		assert.Equal(t, "default", by(&n))

		recorded, registration := handle(t, informerOf(t, c, f))
		receive(t, registration.HasSyncedChecker().Done())
		one.Spec.Containers[0].Image = "registry.example/new"
		r.update(t, one)
		updated := recorded.next(t, 2)
		assert.Equal(t, "kind", by(updated.old))
		assert.Equal(t, "kind", by(updated.new))
		r.remove(t, one)
		assert.Equal(t, "kind", by(recorded.next(t, 3).new))
	})
}

func TestManagedFieldsAreStripped(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		one := pod("a", "one", "web")
		one.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "somebody", Operation: metav1.ManagedFieldsOperationUpdate}}
		r.create(t, one)
		c := r.started(t, cache.Options{DefaultTransform: cache.TransformStripManagedFields()})
		assert.Empty(t, typed.get(t, c, "a", "one").GetManagedFields())
	})
}

// Tidemark runs the transform once for each object. client-go runs it twice for an object in the initial
// state of a stream (D13).
func TestTransformRunsOnceForEachObject(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.create(t, pod("a", "one", "web"))
		var mu sync.Mutex
		runs := 0
		c := r.started(t, cache.Options{DefaultTransform: func(o any) (any, error) {
			mu.Lock()
			defer mu.Unlock()

			runs++
			return o, nil
		}})
		assert.Len(t, typed.pods(t, c), 1)
		mu.Lock()
		defer mu.Unlock()

		want := 2
		if r.ours() {
			want = 1
		}
		assert.Equal(t, want, runs)
	})
}

// An object on which the transform fails is left out. Tidemark reports an error that names the object
// (D3). client-go reports nothing.
func TestTransformFails(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		failure := errors.New("no such pod")
		r.create(t, pod("a", "bad", "web"), pod("a", "good", "web"))
		reported := make(chan error, 100)
		c := r.started(t, cache.Options{
			DefaultTransform: func(o any) (any, error) {
				if o.(client.Object).GetName() == "bad" {
					return nil, failure
				}
				return o, nil
			},
			DefaultWatchErrorHandler: collect(reported),
		})
		assert.Equal(t, []string{"a/good"}, typed.pods(t, c))
		if !r.ours() {
			assert.Empty(t, reported)
			return
		}
		err := receive(t, reported)
		require.ErrorIs(t, err, failure)
		assert.ErrorContains(t, err, "a/bad")
	})
}
