package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// A manager's client reads typed objects and metadata from the cache, and other objects from the server.
// It writes to the server, and the cache shows the writes.
func TestDelegatingClient(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.create(t, pod("a", "one", "web"))
		m := r.manager(t)
		r.run(t, m)
		c, key := m.GetClient(), client.ObjectKey{Namespace: "a", Name: "one"}
		await(t, "the manager's start", func() bool { return c.Get(t.Context(), key, &corev1.Pod{}) == nil })
		asked := func() int { return len(r.server.Requests().Of(informertest.Request{Verb: "get", Resource: "pods"})) }
		for _, f := range []flavour{typed, metadataOnly} {
			require.NoError(t, c.Get(t.Context(), key, f.pod()))
			assert.Zero(t, asked(), f.name)
		}
		require.NoError(t, c.Get(t.Context(), key, generic.pod()))
		assert.Equal(t, 1, asked())
		require.NoError(t, m.GetAPIReader().Get(t.Context(), key, &corev1.Pod{}))
		assert.Equal(t, 2, asked())

		var p corev1.Pod
		cached := func(holds func() bool) func() bool {
			return func() bool { return c.Get(t.Context(), key, &p) == nil && holds() }
		}
		require.NoError(t, c.Apply(t.Context(), applycorev1.Pod("one", "a").WithLabels(map[string]string{"applied": "true"}), client.FieldOwner("test")))
		await(t, "what was applied", cached(func() bool { return p.Labels["applied"] == "true" && p.Labels["app"] == "web" }))
		require.True(t, controllerutil.AddFinalizer(&p, "example.com/hold"))
		require.NoError(t, c.Update(t.Context(), &p))
		require.NoError(t, c.Delete(t.Context(), &p))
		await(t, "the deletion's begin", cached(func() bool { return !p.DeletionTimestamp.IsZero() }))
		require.True(t, controllerutil.RemoveFinalizer(&p, "example.com/hold"))
		require.NoError(t, c.Update(t.Context(), &p))
		await(t, "the deletion's end", func() bool { return apierrors.IsNotFound(c.Get(t.Context(), key, &p)) })
		assert.Equal(t, 2, asked(), "the cache's watch sent all changes")
	})
}
