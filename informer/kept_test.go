package informer_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// kept is a server with the pods a, b and c.
type kept struct {
	t      *testing.T
	server *informertest.Server
}

func podIn(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func inKept(t *testing.T, test func(*testing.T, *kept)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := &kept{t: t, server: informertest.New(informertest.Options{})}
		t.Cleanup(k.server.Close)
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, k.server.Create(t.Context(), podIn("default", name)))
		}
		test(t, k)
	})
}

// now returns the server's present pods.
func (k *kept) now() *corev1.PodList {
	k.t.Helper()
	list, err := k.source("").List(k.t.Context(), metav1.ListOptions{})
	require.NoError(k.t, err)
	return list.(*corev1.PodList)
}

func (k *kept) source(namespace string) reflector.Source {
	return k.server.Source(corev1.SchemeGroupVersion.WithResource("pods"), namespace)
}

func (k *kept) start(i *informer.Informer[*corev1.Pod]) (stop func()) {
	k.t.Helper()
	ctx, cancel := context.WithCancel(k.t.Context())
	wait, err := i.Start(ctx)
	require.NoError(k.t, err)
	stop = func() { cancel(); require.NoError(k.t, wait()) }
	k.t.Cleanup(stop)
	synctest.Wait()
	return stop
}

func quiet(informer.Event) {}
