package conformance_test

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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// streamingScript returns a script that can stream its initial state.
func streamingScript(version string, pods ...*corev1.Pod) *kit.Script {
	s := kit.NewScript(version, pods...)
	s.Streams = true
	return s
}

// B66, B67: the informer requests a streamed initial state, stores it when it is complete, and continues
// with the same watch.
func TestContract_B66_B67_AStreamBecomesTheWatch(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, streamingScript("10"))
		rec, _ := w.addRecorder()
		w.start()
		_, watches := w.Asked()
		require.Len(t, watches, 1)
		o := watches[0]
		require.Empty(t, o.ResourceVersion)
		require.True(t, o.SendInitialEvents != nil && *o.SendInitialEvents)
		require.Equal(t, metav1.ResourceVersionMatchNotOlderThan, o.ResourceVersionMatch)
		require.True(t, o.AllowWatchBookmarks)
		require.NotNil(t, o.TimeoutSeconds)

		w.Send(watch.Added, kit.Pod("a", "1"))
		w.Send(watch.Added, kit.Pod("b", "2"))
		w.Send(watch.Modified, kit.Pod("b", "3"))
		w.Send(watch.Added, kit.Pod("c", "4"))
		w.Send(watch.Deleted, kit.Pod("c", "5"))
		w.Send(watch.Bookmark, kit.Bookmark("6", ""))
		w.Send(watch.Bookmark, kit.Bookmark("7", "false"))
		require.Empty(t, rec.Take())
		require.False(t, w.synced())
		require.Empty(t, w.keys())
		w.Send(watch.Bookmark, kit.Bookmark("10", "true"))
		require.Equal(t, []string{"initial a@1", "initial b@3"}, rec.Sorted())
		require.True(t, w.synced())
		require.Equal(t, "10", w.version())
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a@1 a@11"}, rec.Take())
		lists, n := w.Requests()
		require.Equal(t, []int{0, 1}, []int{lists, n})
	})
}

// B66: after an error, the stream is requested at the last known version or newer.
func TestContract_B66_AStreamFromAVersion(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, streamingScript("10")).start()
		w.Feed().Initial("10", kit.Pod("a", "1"))
		synctest.Wait()
		w.relist()
		_, watches := w.Asked()
		require.Equal(t, []string{"", "10"}, versions(watches))
		require.NotNil(t, watches[1].SendInitialEvents)
		w.Feed().Initial("20", kit.Pod("b", "15"))
		synctest.Wait()
		require.Equal(t, []string{"default/b"}, w.keys())
	})
}

// B68: if the server is busy, the stream is retried.
func TestContract_B68_AServerThatIsBusy(t *testing.T) {
	for _, err := range []error{errRefused, errBusy} {
		each(t, func(t T, r rig) {
			s := streamingScript("10")
			failures := 2
			s.OnWatch = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				if failures--; failures >= 0 {
					return nil, err
				}
				return nil, nil
			}
			w := r.world(t, s).start()
			time.Sleep(9 * time.Second)
			lists, watches := w.Requests()
			require.Equal(t, []int{0, 3}, []int{lists, watches})
			w.Feed().Initial("10", kit.Pod("a", "1"))
			synctest.Wait()
			require.True(t, w.synced())
		})
	}
}

// B68: an unavailable version is not requested again.
func TestContract_B68_AVersionThatIsNotToBeHad(t *testing.T) {
	for _, err := range []error{apierrors.NewResourceExpired("too old"), tooLarge()} {
		each(t, func(t T, r rig) {
			s := streamingScript("10")
			s.OnWatch = func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
				if o.ResourceVersion != "" {
					return nil, err
				}
				return nil, nil
			}
			w := r.world(t, s).start()
			w.Feed().Initial("10", kit.Pod("a", "1"))
			synctest.Wait()
			w.relist()
			_, watches := w.Asked()
			require.Equal(t, []string{"", "10", ""}, versions(watches))
			w.Feed().Initial("20", kit.Pod("a", "15"))
			synctest.Wait()
			require.Equal(t, "20", w.version())
			lists, _ := w.Requests()
			require.Zero(t, lists)
		})
	}
}

// B68: after any other error the informer lists.
func TestContract_B68_OtherErrorsMeanAList(t *testing.T) {
	each(t, func(t T, r rig) {
		s := streamingScript("10", kit.Pod("a", "1"))
		s.OnWatch = func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "", nil)
			}
			return nil, nil
		}
		w := r.world(t, s).start()
		require.True(t, w.synced())
		lists, watches := w.Asked()
		require.Equal(t, []string{"0"}, versions(lists))
		require.Len(t, watches, 2)
		require.Equal(t, "10", watches[1].ResourceVersion)
	})
}

// B70, T16: a source that says that it cannot stream gets no stream request.
func TestContract_B70_T16_WhoCannotStreamIsNotAsked(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		lists, watches := w.Asked()
		require.Len(t, lists, 1)
		require.Len(t, watches, 1)
		require.Nil(t, watches[0].SendInitialEvents)
	})
}

// B70, T17: with the feature gate off, no source gets a stream request.
func TestContract_B70_T17_TheGate(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	each(t, func(t T, r rig) {
		w := r.world(t, streamingScript("10", kit.Pod("a", "1"))).start()
		require.True(t, w.synced())
		_, watches := w.Asked()
		require.Len(t, watches, 1)
		require.Nil(t, watches[0].SendInitialEvents)
	})
}

// D12, B68: after a stream that ends early the informer lists in the same attempt, and does not stream
// for a while.
func TestContract_D12_B68_AStreamThatEnds(t *testing.T) {
	differs(t, func(t T, r rig) {
		s := streamingScript("10", kit.Pod("a", "1"))
		s.OnWatch = func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents == nil {
				return nil, nil
			}
			f := kit.NewFeed()
			f.Send(watch.Added, kit.Pod("z", "1"))
			f.End()
			return f, nil
		}
		w := r.world(t, s)
		limitWatches(s, 1000)
		w.start()
		require.Equal(t, []string{"default/a"}, w.keys(), "the events of the stream are dropped")
		for range 5 {
			time.Sleep(time.Minute)
			w.relist()
		}
		_, watches := w.Asked()
		streams := 0
		for _, o := range watches {
			if o.SendInitialEvents != nil {
				streams++
			}
		}
		require.Equal(t, 1, streams)
	})
}

// limitWatches prevents a hot loop: it answers only the first n watches.
func limitWatches(s *kit.Script, n int) {
	answer := s.OnWatch
	s.OnWatch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		if _, watches := s.Requests(); watches > n {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return answer(ctx, o)
	}
}

// D12, B69: after a stream without events the informer lists.
func TestContract_D12_B69_AStreamThatBringsNothing(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, streamingScript("10", kit.Pod("a", "1"))).start()
		time.Sleep(11 * time.Second)
		require.True(t, w.synced())
		require.Equal(t, []string{"default/a"}, w.keys())
	})
}

// D12, B70: a bare ListWatch does not say whether it can stream. The informer waits one second for the
// stream, and then lists.
func TestContract_D12_B70_ABareListWatch(t *testing.T) {
	differs(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		w := &world{subject: r.make(t, &cache.ListWatch{ListWithContextFunc: s.ListWithContext, WatchFuncWithContext: s.WatchWithContext}, settings{}), Script: s, t: t}
		w.start()
		time.Sleep(2 * time.Second)
		require.True(t, w.synced())
	})
}

// D10: an outage of a source that may not be able to stream is one error per attempt. The stream that is
// tried before the list does not cause another error.
func TestContract_D10_AnOutageOfABareListWatchIsReportedOnce(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		s.Fail(errPoison)
		s.OnWatch = func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, errPoison }
		w := &world{subject: r.make(t, &cache.ListWatch{ListWithContextFunc: s.ListWithContext, WatchFuncWithContext: s.WatchWithContext}, settings{}), Script: s, t: t}
		errs := w.collectErrors()
		w.start()
		time.Sleep(time.Second / 2)
		require.Len(t, errs(), 1)
	})
}

// D13, B71: each object of a stream is transformed once.
func TestContract_D13_B71_TheTransformRunsOnce(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, streamingScript("10"))
		calls := map[string]int{}
		require.NoError(t, w.transform(func(obj any) (any, error) {
			calls[kit.Text(obj)]++
			return obj, nil
		}))
		w.start()
		w.Feed().Initial("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		synctest.Wait()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		w.Send(watch.Deleted, kit.Pod("b", "12"))
		synctest.Wait()
		require.Equal(t, map[string]int{"a@1": 1, "b@2": 1, "a@11": 1, "b@12": 1}, calls)
	})
}

// serverSource is a model of a server that streams its initial state.
type serverSource struct{ of reflector.Source }

func (s serverSource) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return s.of.List(ctx, o)
}

func (s serverSource) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return s.of.Watch(ctx, o)
}

func (serverSource) Streams() bool { return true }

// B67, B57: the store is the same whether or not the server streams, and regardless of the history that
// it has lost.
func TestContract_B67_AgainstAServer(t *testing.T) {
	for _, o := range []informertest.Options{{}, {NoWatchList: true}, {NoWatchList: true, NoWatchCache: true}} {
		each(t, func(t T, r rig) {
			server := informertest.New(o)
			defer server.Close()
			ctx := t.Context()
			for n := range 30 {
				require.NoError(t, server.Create(ctx, kit.Pod(fmt.Sprint("p", n), "")))
			}
			w := &world{subject: r.make(t, kit.ListerWatcher{Source: serverSource{server.Source(podResource, "")}}, settings{}), t: t}
			rec, _ := w.addRecorder()
			w.start()
			require.Len(t, rec.Take(), 30)
			server.Compact()
			server.CutWatches()
			require.NoError(t, server.Delete(ctx, kit.Pod("p1", "")))
			require.NoError(t, server.Create(ctx, kit.Pod("q", "")))
			server.Compact()
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Len(t, w.keys(), 30)
			require.Nil(t, w.get("default/p1"))
			require.NotNil(t, w.get("default/q"))
			require.True(t, w.synced())
			w.stop()
		})
	}
}
