package controllerruntime

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// waiting writes pods with the label app and reads them back through a client whose reads wait for
// earlier writes (EnableReadYourWritesConsistency).
type waiting struct {
	t *testing.T
	client.Client
}

// wrote checks the last write of a pod, and reads the pod. cached says whether it must be in the cache.
func (w waiting) wrote(p *corev1.Pod, err error, cached bool) {
	w.t.Helper()
	require.NoError(w.t, err)
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	var read corev1.Pod
	err = w.Get(ctx, client.ObjectKeyFromObject(p), &read)
	if !cached {
		require.True(w.t, apierrors.IsNotFound(err), "%v", err)
		return
	}
	require.NoError(w.t, err)
	require.Equal(w.t, p.ResourceVersion, read.ResourceVersion)
	var list corev1.PodList
	require.NoError(w.t, w.List(ctx, &list))
	require.Len(w.t, list.Items, 1)
}

// Reads that wait for earlier writes return after each sort of write that the cache's selector lets them
// see. With OwnWrites they do not even wait for the watch.
func TestReadsThatWaitForWrites(t *testing.T) {
	own := implementation{name: "own writes", make: informer.ForControllerRuntime, wrap: reflector.NewOwnWrites().Wire}
	for _, i := range append([]implementation{own}, implementations...) {
		t.Run(i.name, func(t *testing.T) {
			r := newRig(t, i, informertest.Options{})
			c := r.started(t, cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: labels.Set{"app": "web"}.AsSelector()}}})
			_, err := c.GetInformer(t.Context(), &corev1.Pod{})
			require.NoError(t, err)
			if i.name == own.name {
				t.Cleanup(r.server.Stall(informertest.Request{Verb: "watch", Resource: "pods"}))
			}
			yes, ctx := true, t.Context()
			reads, err := client.New(r.config, client.Options{HTTPClient: r.http, Cache: &client.CacheOptions{Reader: c, EnableReadYourWritesConsistency: &yes}})
			require.NoError(t, err)
			w := waiting{t, reads}

			p := pod("a", "one", "web")
			w.wrote(p, w.Create(ctx, p), true)
			p.Finalizers = []string{"example.com/hold"}
			w.wrote(p, w.Update(ctx, p), true)
			require.NoError(t, w.Delete(ctx, p, client.GracePeriodSeconds(0)))
			var marked corev1.Pod
			require.NoError(t, w.Get(ctx, client.ObjectKeyFromObject(p), &marked))
			require.NotNil(t, marked.DeletionTimestamp)
			marked.Finalizers = nil
			require.NoError(t, w.Update(ctx, &marked))
			// The server answers the removal of the last finalizer with the previous version, which no read
			// waits for.
			if i.name != own.name {
				await(t, "the deletion", func() bool { return apierrors.IsNotFound(w.Get(ctx, client.ObjectKeyFromObject(p), &marked)) })
			}
			w.wrote(&marked, nil, false)

			p = pod("a", "one", "web")
			w.wrote(p, w.Create(ctx, p), true)
			p.Labels["app"] = "db"
			w.wrote(p, w.Update(ctx, p), false)
			p.Labels["app"] = "web"
			w.wrote(p, w.Update(ctx, p), true)
			w.wrote(p, w.Delete(ctx, p, client.GracePeriodSeconds(0)), false)
		})
	}
}
