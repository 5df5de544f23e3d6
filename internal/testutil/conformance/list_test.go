package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// versions returns the requested versions.
func versions(o []metav1.ListOptions) (asked []string) {
	for _, o := range o {
		asked = append(asked, o.ResourceVersion)
	}
	return asked
}

func limits(o []metav1.ListOptions) (asked []int64) {
	for _, o := range o {
		asked = append(asked, o.Limit)
	}
	return asked
}

// failOnce makes a list fail at the first request for a version.
func failOnce(version string, err error) func(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if o.ResourceVersion == version {
			failed := err
			err = nil
			return nil, failed
		}
		return nil, nil
	}
}

// B44, B57: the first list may be old. Later lists may not be older than the last known version. If a
// version is unavailable, the next list is sent at once, without a version.
func TestContract_B44_B57_VersionsOfLists(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		w.Set("30", kit.Pod("a", "1"))
		w.relist()
		lists, _ := w.Asked()
		require.Equal(t, []string{"0", "10"}, versions(lists))
		require.Equal(t, []int64{500, 0}, limits(lists))
	})
	gone := apierrors.NewResourceExpired("gone")
	gone.ErrStatus.Reason = metav1.StatusReasonGone // the reason that old servers send
	for _, err := range []error{apierrors.NewResourceExpired("too old"), gone, tooLarge()} {
		each(t, func(t T, r rig) {
			s := kit.NewScript("10", kit.Pod("a", "1"))
			s.OnList = failOnce("0", err)
			w := r.world(t, s).start()
			lists, _ := w.Asked()
			require.Equal(t, []string{"0", ""}, versions(lists))
			require.True(t, w.synced())
		})
	}
}

// B45: a version in the future is recognized by its cause or its message.
func TestContract_B45_TooLargeHasThreeForms(t *testing.T) {
	cause := tooLarge()
	cause.ErrStatus.Message, cause.ErrStatus.Details.Causes[0].Message = "", ""
	causeWords := tooLarge()
	causeWords.ErrStatus.Message, causeWords.ErrStatus.Details.Causes[0].Type = "", ""
	words := apierrors.NewTimeoutError("Too large resource version: 5, current: 4", 1)
	words.ErrStatus.Message = "Too large resource version: 5, current: 4"
	for _, err := range []*apierrors.StatusError{cause, causeWords, words} {
		each(t, func(t T, r rig) {
			s := kit.NewScript("10")
			s.OnList = failOnce("0", err)
			w := r.world(t, s).start()
			lists, _ := w.Asked()
			require.Equal(t, []string{"0", ""}, versions(lists))
			require.True(t, w.synced())
		})
	}
}

// inPages answers lists that have a limit in pages of one pod.
func inPages(s *kit.Script) func(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if o.Limit == 0 {
			return nil, nil
		}
		all := s.Listed()
		n := len(o.Continue)
		page := kit.PodList(all.ResourceVersion, all.Items[n:n+1]...)
		if n+1 < len(all.Items) {
			page.Continue = o.Continue + "+"
		}
		return page, nil
	}
}

// B46: if the first list came in pages, the server has no watch cache. Later lists are then paged, too.
func TestContract_B46_PagesGoOn(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
		s.OnList = inPages(s)
		w := r.world(t, s).start()
		require.Equal(t, []string{"default/a", "default/b", "default/c"}, w.keys())
		w.relist()
		lists, _ := w.Asked()
		require.Equal(t, []int64{500, 500, 500, 500, 500, 500}, limits(lists))
		require.Equal(t, []string{"0", "", "", "10", "", ""}, versions(lists), "B48: later pages name no version")
	})
}

// B47: a configured page size is always used.
func TestContract_B47_PageSizes(t *testing.T) {
	typedOnly(t, "its shared informer has no such option; package reflector tests ours", func(t T, _ rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		s.OnList = inPages(s)
		i := informer.New(reflector.FromListerWatcher(s), informer.Options[podType]{PageSize: 7, Observe: (&observer{}).observe})
		background(t, func(ctx context.Context) { _ = i.Run(ctx) })
		require.Equal(t, 2, i.Indexer().Len())
		(&world{Script: s}).relist()
		lists, _ := s.Asked()
		require.Equal(t, []int64{7, 7, 7, 7}, limits(lists))
	})
}

// B48: if a page expires, the whole list is requested again like the first one.
func TestContract_B48_APageThatExpires(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		pages := inPages(s)
		s.OnList = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.Continue != "" {
				return nil, apierrors.NewResourceExpired("too old")
			}
			return pages(ctx, o)
		}
		w := r.world(t, s).start()
		require.Equal(t, []string{"default/a", "default/b"}, w.keys())
		lists, _ := w.Asked()
		require.Equal(t, []string{"0", "", "0"}, versions(lists))
		require.Equal(t, []int64{500, 500, 0}, limits(lists))
	})
}

// B50: the informer has a list's version after the list is stored.
func TestContract_B50_TheVersionFollowsTheList(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		gate := make(chan struct{})
		s.OnList = func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		}
		w := r.world(t, s).start()
		require.Empty(t, w.version())
		require.False(t, w.synced())
		close(gate)
		synctest.Wait()
		require.Equal(t, "10", w.version())
		require.True(t, w.synced())
	})
}

// B60: a failed list is reported and retried.
func TestContract_B60_AListThatFails(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		s.Fail(apierrors.NewForbidden(podResource.GroupResource(), "", nil))
		w := r.world(t, s)
		errs := w.collectErrors()
		w.start()
		require.Len(t, errs(), 1)
		require.True(t, apierrors.IsForbidden(errs()[0]))
		require.False(t, w.synced())
		s.Fail(nil)
		time.Sleep(5 * time.Second)
		require.True(t, w.synced())
		require.Equal(t, []string{"default/a"}, w.keys())
	})
}

// D8, B49: a list that ignores its context does not delay the end.
func TestContract_D8_B49_AListThatIgnoresItsContext(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10")
		gate := make(chan struct{})
		t.Cleanup(func() { close(gate) })
		s.OnList = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			<-gate
			return nil, context.Canceled
		}
		w := r.world(t, s).start()
		w.stop()
		require.True(t, w.stopped())
	})
}

// D14, B74: a relist delivers no events for unchanged objects, and keeps the stored objects.
func TestContract_D14_B74_ARelistIsSilent(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		stored := w.get("default/a")
		w.Set("30", kit.Pod("a", "1"), kit.Pod("b", "25"))
		w.relist()
		require.Equal(t, []string{"update b@2 b@25"}, rec.Take())
		r.requireSame(t, stored, w.get("default/a"))
		require.Equal(t, "30", w.version())
	})
}

// D14: if lists have no version, every object counts as changed.
func TestContract_D14_WithoutVersionsAllCounts(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("", kit.Pod("a", "")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.relist()
		require.Equal(t, []string{"update a@ a@"}, rec.Take())
	})
}

// D26: lists without a version are accepted from a server whose lists never had one.
func TestContract_D26_ListsThatNeverHadAVersion(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("", kit.Pod("a", ""))
		s.Streams = true
		s.OnWatch = func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewBadRequest("this server does not stream")
			}
			return nil, nil
		}
		w := r.world(t, s).start()
		require.True(t, w.synced())
		w.Set("", kit.Pod("b", ""))
		w.relist()
		require.Equal(t, []string{"default/b"}, w.keys())
	})
}

// D26: after a list with a version, all later lists without a version are rejected.
func TestContract_D26_AListWithoutAVersionAfterOneThatHadOne(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		for _, pods := range [][]podType{nil, {kit.Pod("b", "")}} {
			w.Set("", pods...)
			w.relist()
			require.Equal(t, []string{"default/a"}, w.keys())
		}
		w.Set("20", kit.Pod("c", "11"))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"default/c"}, w.keys())
	})
}

// D23: after a server's history has gone back, equal versions do not prove equal objects.
func TestContract_D23_AHistoryThatWentBack(t *testing.T) {
	differs(t, func(t T, r rig) {
		s := kit.NewScript("100", kit.Pod("a", "5"), kit.Pod("b", "6"))
		w := r.world(t, s).start()
		s.OnList = func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.ResourceVersion != "" {
				return nil, tooLarge() // the answer of a restored server
			}
			return nil, nil
		}
		w.Set("50", kit.Pod("a", "5"))
		w.relist()
		time.Sleep(time.Minute)
		require.Equal(t, "50", w.version())
		require.Equal(t, []string{"default/a"}, w.keys())
		lists, _ := w.Asked()
		require.Equal(t, []string{"0", "100", "", ""}, versions(lists), "the informer lists again")
	})
	typedOnly(t, "client-go does not notice", func(t T, r rig) {
		w := r.world(t, kit.NewScript("100", kit.Pod("a", "5"))).start()
		w.OnList = failOnce("100", tooLarge())
		w.Set("50", kit.Pod("a", "5"))
		w.relist()
		require.Equal(t, []reflector.HistoryWentBack{{From: "100", To: "50"}}, eventsOf[reflector.HistoryWentBack](w.typed().observer))
	})
}
func tooLarge() *apierrors.StatusError {
	err := apierrors.NewTimeoutError("Too large resource version", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}
