package informertest

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// inBubble runs a test on a server in a synctest bubble.
func inBubble(t *testing.T, o Options, test func(t *testing.T, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := New(o)
		defer s.Close()
		test(t, s)
	})
}

func open(t *testing.T, s *Server, o metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := s.Source(pods, "").Watch(t.Context(), o)
	require.NoError(t, err)
	return w
}

// ready returns the events that arrive without the passing of time, and "closed" after the last one.
func ready(w watch.Interface) []string {
	events := []watch.Event{}
	for {
		synctest.Wait()
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return append(spellEvents(events), "closed")
			}
			events = append(events, e)
		default:
			return spellEvents(events)
		}
	}
}

func TestSourceLists(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	for i := range 3 {
		require.NoError(t, s.Create(t.Context(), newPod("a", fmt.Sprint("p", i))))
	}
	require.NoError(t, s.Create(t.Context(), newPod("b", "q")))

	source := s.Source(pods, "a")
	listed, err := source.List(t.Context(), metav1.ListOptions{Limit: 2})
	require.NoError(t, err)
	list := listed.(*corev1.PodList)
	assert.Len(t, list.Items, 2)
	assert.Equal(t, "5", list.ResourceVersion)
	assert.EqualValues(t, 1, *list.RemainingItemCount)
	assert.NotEmpty(t, list.Continue)
	assert.Empty(t, list.Items[0].Kind)

	listed, err = s.Source(configMaps, "").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []corev1.ConfigMap{}, listed.(*corev1.ConfigMapList).Items, "empty, not nil")

	list.Items[0].Labels["mine"] = "yes"
	listed, err = source.List(t.Context(), metav1.ListOptions{LabelSelector: "mine"})
	require.NoError(t, err)
	assert.Empty(t, listed.(*corev1.PodList).Items, "what goes out is a copy")

	for _, o := range []metav1.ListOptions{{LabelSelector: "!!"}, {FieldSelector: "x"}, {FieldSelector: "x=y"}} {
		_, err = source.List(t.Context(), o)
		assert.True(t, apierrors.IsBadRequest(err), err)
		_, err = source.Watch(t.Context(), o)
		assert.True(t, apierrors.IsBadRequest(err), err)
	}
	assert.Equal(t, reflector.StreamingSupported, source.Streams)
}

func TestSourceOfWhatIsNotServed(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	source := s.Source(corev1.SchemeGroupVersion.WithResource("bods"), "")
	_, err := source.List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)
	_, err = source.Watch(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)
}

func TestSourceHonoursItsContext(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := s.Source(pods, "").Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, ready(w))
		cancel()
		assert.Equal(t, []string{"closed"}, ready(w))
		_, err = s.Source(pods, "").List(ctx, metav1.ListOptions{})
		require.ErrorIs(t, err, context.Canceled)
		_, err = s.Source(pods, "").Watch(ctx, metav1.ListOptions{})
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, s.Watches())
	})
}

func TestWatchEndsInTime(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		begin, seconds := time.Now(), int64(90)
		w := open(t, s, metav1.ListOptions{TimeoutSeconds: &seconds})
		_, ok := <-w.ResultChan()
		assert.False(t, ok)
		assert.Equal(t, 90*time.Second, time.Since(begin))
	})
}

func TestWatchesEnd(t *testing.T) {
	for name, end := range map[string]func(*Server, watch.Interface){
		"stopped": func(_ *Server, w watch.Interface) { w.Stop(); w.Stop() },
		"cut":     func(s *Server, _ watch.Interface) { s.CutWatches() },
		"closed":  func(s *Server, _ watch.Interface) { s.Close(); s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, s *Server) {
				w := open(t, s, metav1.ListOptions{})
				idle := open(t, s, metav1.ListOptions{})
				require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
				assert.Equal(t, 2, s.Watches())
				synctest.Wait() // w waits for its reader
				end(s, w)
				_ = ready(w)
				assert.Equal(t, []string{"closed"}, ready(w))
				idle.Stop()
				synctest.Wait()
				assert.Zero(t, s.Watches())
			})
		})
	}
}

func TestASlowWatcherDelaysNoneAndLosesNothing(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		slow, quick := open(t, s, metav1.ListOptions{}), open(t, s, metav1.ListOptions{})
		want := []string{}
		for i := range 5000 {
			pod := newPod("a", fmt.Sprint(i))
			require.NoError(t, s.Create(t.Context(), pod))
			want = append(want, "ADDED "+spell(pod))
			if i%1000 == 0 {
				s.Compact()
			}
		}
		assert.Equal(t, want, ready(quick))
		assert.Equal(t, want, ready(slow))
	})
}

func TestWatchedObjectsAreCopies(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		one, other := open(t, s, metav1.ListOptions{}), open(t, s, metav1.ListOptions{})
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
		e := <-one.ResultChan()
		e.Object.(*corev1.Pod).Labels["mine"] = "yes"
		e = <-other.ResultChan()
		assert.Empty(t, e.Object.(*corev1.Pod).Labels)
	})
}

func TestBookmarksOnDemandAndInTime(t *testing.T) {
	inBubble(t, Options{BookmarkInterval: time.Minute}, func(t *testing.T, s *Server) {
		w := open(t, s, streaming(""))
		assert.Equal(t, []string{"END @1"}, ready(w))
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
		s.Bookmark()
		assert.Equal(t, []string{"ADDED a/p@2", "BOOKMARK @2"}, ready(w))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"BOOKMARK @2", "BOOKMARK @2"}, ready(w))
	})
}

func TestExpiredWatchSaysSoInTheStream(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
		s.Compact()
		w := open(t, s, metav1.ListOptions{ResourceVersion: "1"})
		e := <-w.ResultChan()
		require.True(t, apierrors.IsResourceExpired(apierrors.FromObject(e.Object)), e)
		assert.Equal(t, []string{"closed"}, ready(w))
	})
}

func TestServerThatDoesNotStream(t *testing.T) {
	s := New(Options{NoWatchList: true})
	defer s.Close()
	_, err := s.Source(pods, "").Watch(t.Context(), streaming(""))
	assert.True(t, apierrors.IsInvalid(err), err)
	assert.Equal(t, map[string]int{"watchlist": 1}, s.Counts(), "what is refused counts")
}

func TestClosedServer(t *testing.T) {
	s := New(Options{})
	s.Close()
	source := s.Source(pods, "")
	_, err := source.List(t.Context(), metav1.ListOptions{})
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	_, err = source.Watch(t.Context(), metav1.ListOptions{})
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, s.Create(t.Context(), newPod("a", "p")), ErrClosed)
	require.ErrorIs(t, s.Get(t.Context(), "a", "p", &corev1.Pod{}), ErrClosed)
	require.ErrorIs(t, s.Start(), ErrClosed)
}
