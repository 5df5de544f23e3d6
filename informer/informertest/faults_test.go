package informertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// inBothShells runs a test on the pods of namespace a in a bubble: with a Source, and with a clientset over
// pipes.
func inBothShells(t *testing.T, test func(t *testing.T, s *Server, podsOfA reflector.Source)) {
	t.Helper()
	t.Run("source", func(t *testing.T) {
		inBubble(t, Options{}, func(t *testing.T, s *Server) { test(t, s, s.Source(pods, "a")) })
	})
	t.Run("http", func(t *testing.T) {
		inBubble(t, Options{}, func(t *testing.T, s *Server) {
			require.NoError(t, s.StartInMemory())
			test(t, s, reflector.From(newClient(t, s.ClientConfig()).CoreV1().Pods("a")))
		})
	})
}

// listLater starts a list request, and returns a function that waits for its result.
func listLater(t *testing.T, source reflector.Source) <-chan error {
	result := make(chan error, 1)
	go func() {
		_, err := source.List(t.Context(), metav1.ListOptions{})
		result <- err
	}()
	return result
}

func TestStallHoldsRequestsAndWatches(t *testing.T) {
	inBothShells(t, func(t *testing.T, s *Server, source reflector.Source) {
		w, err := source.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
		require.NoError(t, err)
		synctest.Wait()
		resume := s.Stall(Request{Resource: "pods", Namespace: "a"})
		listed := listLater(t, source)
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")), "the test's own calls go on")
		_, err = s.Source(pods, "b").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err, "and so does everybody else")
		time.Sleep(time.Hour)
		assert.Empty(t, ready(w))
		select {
		case err := <-listed:
			require.Fail(t, "it was answered", "%v", err)
		default:
		}

		resume()
		resume()
		require.NoError(t, <-listed)
		assert.Equal(t, []string{"ADDED a/p@2"}, ready(w), "nothing is lost")
		w.Stop()
	})
}

func TestStalledRequestsEnd(t *testing.T) {
	inBothShells(t, func(t *testing.T, s *Server, source reflector.Source) {
		s.Stall(Request{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := source.List(ctx, metav1.ListOptions{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		listed := listLater(t, source)
		synctest.Wait()
		s.Close()
		require.Error(t, <-listed)
	})
}

func TestForbid(t *testing.T) {
	inBothShells(t, func(t *testing.T, s *Server, source reflector.Source) {
		w, err := source.Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		allow := s.Forbid(Request{Verb: "list", Resource: "pods"})
		_, err = source.List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsForbidden(err), err)
		require.EqualError(t, err, `pods is forbidden: User "informertest" cannot list resource "pods" in API group "" in the namespace "a"`)
		other, err := source.Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err, "only lists are forbidden")
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
		assert.Equal(t, []string{"ADDED a/p@2"}, ready(w), "what is open goes on")
		allow()
		_, err = source.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		w.Stop()
		other.Stop()
	})
}

func TestInterceptSeesRequestsAsRBACDoes(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		require.NoError(t, s.StartInMemory())
		client, ctx := newClient(t, s.ClientConfig()), t.Context()
		var seen []Request
		refused := true
		undo := s.Intercept(func(_ context.Context, r Request) error {
			assert.Contains(t, r.UserAgent, "informertest.test/")
			r.UserAgent, r.ContentType = "", ""
			seen = append(seen, r)
			if r.Verb == "update" && refused {
				refused = false
				return apierrors.NewConflict(pods.GroupResource(), r.Name, errors.New("once"))
			}
			return nil
		})
		pod, err := client.CoreV1().Pods("a").Create(ctx, newPod("a", "p"), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().Pods("a").UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		require.True(t, apierrors.IsConflict(err), err)
		_, err = client.CoreV1().Pods("a").UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		status := Request{Verb: "update", Version: "v1", Resource: "pods", Subresource: "status", Namespace: "a", Name: "p"}
		assert.Equal(t, []Request{
			{Verb: "create", Version: "v1", Resource: "pods", Namespace: "a"},
			status, status,
			{Verb: "list", Group: "apps", Version: "v1", Resource: "deployments"},
		}, seen)
		undo()
		require.NoError(t, client.CoreV1().Pods("a").Delete(ctx, "p", metav1.DeleteOptions{}))
		assert.Len(t, seen, 4)
		assert.Equal(t, map[string]int{"create": 1, "update": 2, "list": 1, "delete": 1}, s.Counts(), "what is refused counts")
	})
}

func TestInterceptMayFailWithAnything(t *testing.T) {
	inBothShells(t, func(t *testing.T, s *Server, source reflector.Source) {
		s.Intercept(func(context.Context, Request) error { return errStale })
		_, err := source.List(t.Context(), metav1.ListOptions{})
		require.ErrorContains(t, err, errStale.Error())
	})
}

// A clientset and its watches work in a bubble, where time passes without waiting.
func TestClientsetInABubble(t *testing.T) {
	inBubble(t, Options{BookmarkInterval: time.Minute}, func(t *testing.T, s *Server) {
		c := s.ClientConfig()
		_, err := newClient(t, c).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		require.ErrorContains(t, err, errNotStarted.Error())
		require.NoError(t, s.StartInMemory())
		require.NoError(t, s.Start(), "it listens already")
		c = s.ClientConfig()
		c.ContentType = runtime.ContentTypeProtobuf
		client, err := kubernetes.NewForConfig(c)
		require.NoError(t, err)
		w, err := client.CoreV1().Pods("").Watch(t.Context(), streaming(""))
		require.NoError(t, err)
		_, err = client.CoreV1().Pods("a").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(90 * time.Second)
		assert.Equal(t, []string{"END @1", "ADDED a/p@2", "BOOKMARK @2"}, ready(w))
		s.CutWatches()
		_, open := <-w.ResultChan()
		assert.False(t, open)

		var late watch.Interface
		late, err = client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		s.Close()
		assert.Contains(t, ready(late), "closed")
		_, err = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		require.ErrorContains(t, err, "connection refused")
	})
}
