package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// B53: a watch requests bookmarks, from the list's version, with a timeout of 5 to 10 minutes.
func TestContract_B53_WatchOptions(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10")).start()
		_, watches := w.Asked()
		require.Len(t, watches, 1)
		o := watches[0]
		require.Equal(t, "10", o.ResourceVersion)
		require.True(t, o.AllowWatchBookmarks)
		require.NotNil(t, o.TimeoutSeconds)
		require.GreaterOrEqual(t, *o.TimeoutSeconds, int64(300))
		require.LessOrEqual(t, *o.TimeoutSeconds, int64(600))
		require.Nil(t, o.SendInitialEvents)
	})
}

// B54: after a watch's timeout, the next watch begins at its last version, without a list or a back-off.
func TestContract_B54_AWatchThatEnds(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		time.Sleep(time.Minute)
		w.Feed().End()
		synctest.Wait()
		lists, watches := w.Asked()
		require.Len(t, lists, 1)
		require.Equal(t, []string{"10", "11"}, versions(watches))
	})
}

var (
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	errBusy    = apierrors.NewTooManyRequests("busy", 1)
)

// B55: if a server refuses connections or is busy, the watch is retried without a list.
func TestContract_B55_AServerThatIsBusy(t *testing.T) {
	for _, err := range []error{errRefused, errBusy} {
		each(t, func(t T, r rig) {
			s := kit.NewScript("10", kit.Pod("a", "1"))
			failures := 3
			s.OnWatch = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				if failures--; failures >= 0 {
					return nil, err
				}
				return nil, nil
			}
			w := r.world(t, s).start()
			time.Sleep(time.Minute)
			lists, watches := w.Requests()
			require.Equal(t, 1, lists)
			require.Equal(t, 4, watches)
		})
	}
	each(t, func(t T, r rig) { // with the same error as an event
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		w.Send(watch.Error, &errBusy.ErrStatus)
		time.Sleep(time.Minute)
		lists, watches := w.Requests()
		require.Equal(t, 1, lists)
		require.Equal(t, 2, watches)
	})
}

// B56, B57: after other errors the informer lists from its last version.
func TestContract_B56_B57_OtherErrorsMeanAList(t *testing.T) {
	for _, status := range []*metav1.Status{
		kit.Expired(),
		{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError},
		{Status: metav1.StatusFailure, Message: "something else"},
	} {
		each(t, func(t T, r rig) {
			w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
			rec, _ := w.addRecorder()
			w.start()
			rec.Take()
			w.Send(watch.Modified, kit.Pod("a", "12"))
			w.Set("30", kit.Pod("a", "20"))
			w.Send(watch.Error, status)
			time.Sleep(5 * time.Second)
			lists, watches := w.Asked()
			require.Equal(t, []string{"0", "12"}, versions(lists))
			require.Equal(t, []string{"10", "30"}, versions(watches))
			require.Equal(t, []string{"update a@1 a@12", "update a@12 a@20"}, rec.Take())
		})
	}
	each(t, func(t T, r rig) { // with the same error as the answer to the request
		s := kit.NewScript("10", kit.Pod("a", "1"))
		failures := 1
		s.OnWatch = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if failures--; failures >= 0 {
				return nil, apierrors.NewResourceExpired("too old")
			}
			return nil, nil
		}
		w := r.world(t, s)
		errs := w.collectErrors()
		w.start()
		time.Sleep(5 * time.Second)
		lists, watches := w.Requests()
		require.Equal(t, []int{2, 2}, []int{lists, watches})
		require.Len(t, errs(), 1)
		require.True(t, apierrors.IsResourceExpired(errs()[0]))
	})
}

// B61: objects of another type are skipped.
func TestContract_B61_WrongTypesAreLeftOut(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Send(watch.Added, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "11"}})
		w.Send(watch.Added, &metav1.Status{})
		w.Send(watch.EventType("UNHEARD-OF"), kit.Pod("x", "12"))
		w.Send(watch.Modified, kit.Pod("a", "13"))
		time.Sleep(time.Second) // client-go delays the report of an error
		require.Equal(t, []string{"update a@1 a@13"}, rec.Take())
		require.Equal(t, []string{"default/a"}, w.keys())
		require.Equal(t, "13", w.version())
	})
}

// B63: after each event the informer has the event's version.
func TestContract_B63_TheVersionFollowsEvents(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		for n, kind := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
			w.Send(kind, kit.Pod("b", fmt.Sprint(11+n)))
			synctest.Wait()
			require.Equal(t, fmt.Sprint(11+n), w.version())
		}
	})
}

// B63: a watch from no version begins with the existing objects in any order. Their versions do not
// count.
func TestContract_B63_AddedEventsOutOfOrder(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("")).start()
		w.Send(watch.Added, kit.Pod("b", "20"))
		w.Send(watch.Added, kit.Pod("a", "5"))
		time.Sleep(time.Minute)
		require.Empty(t, w.version())
		w.Feed().End()
		synctest.Wait()
		w.Send(watch.Added, kit.Pod("c", "6"))
		w.Send(watch.Modified, kit.Pod("a", "21"))
		time.Sleep(time.Minute)
		w.Feed().End()
		synctest.Wait()
		_, watches := w.Asked()
		require.Equal(t, []string{"", "", "21"}, versions(watches))
	})
}

// B64: the next watch begins at the last bookmark.
func TestContract_B64_ABookmarkIsAPlaceToGoOn(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		w.Send(watch.Bookmark, kit.Bookmark("40", ""))
		time.Sleep(time.Minute)
		w.Feed().End()
		synctest.Wait()
		_, watches := w.Asked()
		require.Equal(t, []string{"10", "40"}, versions(watches))
	})
}

// D8: a watch that ignores its context does not delay the end.
func TestContract_D8_AWatchThatIgnoresItsContext(t *testing.T) {
	differs(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		gate := make(chan struct{})
		defer close(gate)
		s.OnWatch = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			<-gate
			return nil, context.Canceled
		}
		w := r.world(t, s).start()
		ended := make(chan struct{})
		go func() { defer close(ended); w.stop() }()
		time.Sleep(100 * time.Millisecond)
		select {
		case <-ended:
		default:
			require.FailNow(t, "Run did not return")
		}
	})
}

// D8, B59: a back-off ends with the context.
func TestContract_D8_B59_BackingOff(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10")
		s.Fail(errors.New("on purpose"))
		w := r.world(t, s)
		w.collectErrors()
		w.start()
		time.Sleep(time.Hour)
		began := time.Now()
		w.stop()
		require.Equal(t, began, time.Now()) // virtual time, which a wait would advance
	})
}

// D9, B58: the back-off grows during an outage of any length, and does not restart.
func TestContract_D9_B58_TheBackoffOfAnOutage(t *testing.T) {
	differs(t, func(t T, r rig) {
		s := kit.NewScript("10")
		s.Fail(errors.New("on purpose"))
		w := r.world(t, s)
		w.collectErrors()
		w.start()
		time.Sleep(30 * time.Minute)
		lists, _ := w.Requests()
		require.Greater(t, lists, 30, "the informer continues")
		require.Less(t, lists, 70, "the back-off grows to 30 to 60 seconds")
	})
}

// D9: an expired watch (410) is not an outage. After the first one, the informer lists at once.
func TestContract_D9_B56_AnExpiredWatchIsListedAtOnce(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		time.Sleep(4 * time.Minute)
		w.Expire()
		synctest.Wait()
		lists, watches := w.Requests()
		require.Equal(t, []int{2, 2}, []int{lists, watches})
	})
}

// D9: after repeated expirations the informer backs off.
func TestContract_D9_WatchesThatKeepExpiring(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		s.OnWatch = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			f := kit.NewFeed()
			f.Send(watch.Error, kit.Expired())
			return f, nil
		}
		w := r.world(t, s)
		w.collectErrors()
		w.start()
		time.Sleep(time.Minute)
		lists, _ := w.Requests()
		require.Less(t, lists, 20)
	})
}

// D10, B60: errors in a stream are reported, too.
func TestContract_D10_B60_ErrorsInTheStreamAreReported(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		errs := w.collectErrors()
		w.start()
		w.Expire()
		time.Sleep(time.Minute)
		w.Send(watch.Error, &metav1.Status{Status: metav1.StatusFailure, Message: "in the stream"})
		time.Sleep(time.Minute)
		require.Len(t, errs(), 2)
		require.True(t, apierrors.IsResourceExpired(errs()[0]))
		require.ErrorContains(t, errs()[1], "in the stream")
	})
}

// D22: a watch that is silent for longer than its timeout is replaced.
func TestContract_D22_ASilentWatch(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		_, watches := w.Asked()
		time.Sleep(time.Duration(*watches[0].TimeoutSeconds)*time.Second + 31*time.Second)
		lists, _ := w.Requests()
		require.Equal(t, 1, lists)
		_, watches = w.Asked()
		require.Equal(t, []string{"10", "10"}, versions(watches))
		w.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.Equal(t, "11", w.version())
	})
}

// B51: answers other than lists of objects, such as tables, are rejected and reported.
func TestContract_B51_TablesAreRefused(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		s.OnList = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &metav1.Table{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}, nil
		}
		w := r.world(t, s)
		errs := w.collectErrors()
		w.start()
		require.False(t, w.synced())
		require.NotEmpty(t, errs())
	})
}
