package informer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// startPods starts an informer of a server's pods over client-go's typed client and HTTP.
func startPods(t *testing.T, server *informertest.Server) *informer.Informer[*corev1.Pod] {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	i := informer.New(reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), podsResource), informer.Options[*corev1.Pod]{PageSize: 500, Observe: func(informer.Event) {}})
	ctx, stop := context.WithCancel(context.Background())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { stop(); require.NoError(t, wait()) })
	return i
}

func newServer(t *testing.T, pods int) *informertest.Server {
	t.Helper()
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	require.NoError(t, server.StartInMemory())
	t.Cleanup(server.Close)
	for n := range pods {
		require.NoError(t, server.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-", n)}}))
	}
	return server
}

// Totals counts errors by class, and relists by cause.
func TestTotals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, 3)
		allow := server.Forbid(informertest.Request{Resource: "pods"})
		i := startPods(t, server)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		before := i.Status()
		require.NotZero(t, before.Totals.Errors[reflector.ErrorForbidden])
		require.Len(t, before.Totals.Errors, 1)
		require.Equal(t, before.Errors, before.Totals.Errors[reflector.ErrorForbidden])
		require.Positive(t, before.Totals.Waited)
		require.Zero(t, before.SyncTook)
		require.Empty(t, before.Totals.Relists)
		allow()
		require.NoError(t, i.WaitSynced(t.Context()))
		synctest.Wait() // the reflector reports a list after the store shows it
		synced := i.Status()
		require.Greater(t, synced.SyncTook, 5*time.Second)
		require.Equal(t, map[reflector.Cause]int{reflector.CauseStart: 1}, synced.Totals.Relists)
		require.Equal(t, 1, synced.Totals.Lists+synced.Totals.Streams)
		require.Zero(t, synced.Progress, "nothing is being read")

		time.Sleep(3 * time.Minute) // the failures are forgotten
		undo := server.Intercept(func(_ context.Context, r informertest.Request) error {
			if r.Verb == "watch" {
				return apierrors.NewResourceExpired("too old")
			}
			return nil
		})
		server.CutWatches()
		time.Sleep(3 * time.Second)
		undo()
		time.Sleep(time.Minute)
		synctest.Wait()
		after := i.Status()
		require.NotZero(t, after.Totals.Errors[reflector.ErrorExpired])
		require.NotZero(t, after.Totals.Relists[reflector.CauseExpired])
		require.Equal(t, synced.SyncTook, after.SyncTook)
		require.GreaterOrEqual(t, after.Totals.Watches, 2)
		require.NotZero(t, after.Totals.Bookmarks)
		last := after.RecentErrors[len(after.RecentErrors)-1]
		require.Equal(t, reflector.ErrorExpired, last.Class)
		require.Equal(t, after.LastError, last.Err)
		require.LessOrEqual(t, len(after.RecentErrors), 16)
	})
}

// Decoding is timed once an inspector exists: one object in 64.
func TestDecodeTimes(t *testing.T) {
	server := newServer(t, 1)
	i := startPods(t, server)
	require.NoError(t, i.WaitSynced(t.Context()))
	inspector := i.Inspector()
	sampled, _ := inspector.Decoding()
	require.Zero(t, sampled)
	var version string
	for n := range 200 {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("new-", n)}}
		require.NoError(t, server.Create(t.Context(), p))
		version = p.ResourceVersion
	}
	require.NoError(t, i.WaitDelivered(t.Context(), version))
	sampled, took := inspector.Decoding()
	require.EqualValues(t, 3, sampled)
	require.Positive(t, took)
}
