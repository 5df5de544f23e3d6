package informer_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// waitRig is an informer of the pod a, and what goes wrong with it.
type waitRig struct {
	*rig.Script
	t      *testing.T
	i      *informer.Informer[*corev1.Pod]
	ctx    context.Context // of the wait
	cancel context.CancelFunc
	stop   func() // stops the informer

	restored, hangs, forbids atomic.Bool // lists at a version fail; the question is not answered; lists of all pods are forbidden
}

// newWaitRig returns a rig whose pod and lists have a version.
func newWaitRig(t *testing.T, version string) *waitRig {
	w := &waitRig{Script: rig.NewScript(version, kit.Pod("a", version)), t: t}
	w.OnWatch = func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
		if o.SendInitialEvents != nil {
			return nil, apierrors.NewBadRequest("no stream")
		}
		return nil, nil
	}
	w.OnList = w.onList
	source := rig.SourceOf(w.Script)
	source.Streams = reflector.StreamingUnknown // so that WaitFresh asks for the newest version
	source.Tweak = func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=a" }
	w.reads(source)
	w.ctx, w.cancel = context.WithTimeout(t.Context(), time.Hour)
	t.Cleanup(w.cancel)
	return w
}

// reads makes the informer, of a source.
func (w *waitRig) reads(s reflector.Source) {
	w.i = informer.New(s, informer.Options[*corev1.Pod]{Name: "pods", Observe: rig.Observed})
}

func (w *waitRig) onList(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	switch {
	case o.FieldSelector == "" && w.forbids.Load():
		return nil, apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
	case o.Limit == 1 && w.hangs.Load():
		<-ctx.Done()
		return nil, ctx.Err()
	case o.ResourceVersion != "" && w.restored.Load():
		err := apierrors.NewTimeoutError("Too large resource version", 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
		return nil, err
	}
	return nil, nil
}

// run runs the informer until it watches.
func (w *waitRig) run() {
	w.stop = rig.Start(w.t, w.i)
	time.Sleep(time.Minute)
	synctest.Wait()
}

// restore sets the server back to a version.
func (w *waitRig) restore(version string) {
	w.restored.Store(true)
	w.Set(version, kit.Pod("a", version))
	w.Expire()
}

// withUndecodable returns a source of the pod a and of one that cannot be decoded, at version 10.
func withUndecodable(t *testing.T) reflector.Source {
	transport := &answers{answer: func(r *http.Request) *http.Response {
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			return says(400, "")
		case query.Get("watch") != "":
			silent := says(200, "")
			silent.Body, _ = io.Pipe()
			return silent
		}
		return says(200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[
			{"metadata":{"name":"bad","namespace":"default","resourceVersion":"9"},"spec":5},
			{"metadata":{"name":"a","namespace":"default","resourceVersion":"10"}}]}`)
	}}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: transport, QPS: -1})
	require.NoError(t, err)
	return reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods"))
}

// allWaits are the waits for version 10 or another one.
var allWaits = map[string]func(i *informer.Informer[*corev1.Pod], ctx context.Context, version string) error{
	"WaitSynced": func(i *informer.Informer[*corev1.Pod], ctx context.Context, _ string) error { return i.WaitSynced(ctx) },
	"WaitFor": func(i *informer.Informer[*corev1.Pod], ctx context.Context, version string) error {
		return i.WaitFor(ctx, kit.Pod("a", version))
	},
	"WaitFresh": func(i *informer.Informer[*corev1.Pod], ctx context.Context, _ string) error { return i.WaitFresh(ctx) },
	"WaitDelivered": func(i *informer.Informer[*corev1.Pod], ctx context.Context, version string) error {
		return i.WaitDelivered(ctx, version)
	},
}

// D33: what each wait returns. Each error names the informer.
func TestContract_D33_TheWaits(t *testing.T) {
	const (
		compares = "the resourceVersion cannot be compared"
		ended    = ": context canceled"
		begins   = "the informer is not synced: it was not started: context canceled"
		stopped  = "the informer has stopped"
		unknown  = "the newest version is not known: context canceled; last error: its newest version: "
	)
	for name, row := range map[string]struct {
		version string            // of the server; 10 if empty
		waits   string            // for this version; for that of the server if empty
		before  func(w *waitRig)  // runs the informer if nil
		during  func(w *waitRig)  // while the wait waits; nil if it does not
		want    map[string]string // the wait's error; nil if missing
	}{
		"all is there": {},
		"versions that do not compare": {
			version: "a/b", waits: "10",
			want: map[string]string{"WaitFor": compares, "WaitFresh": compares, "WaitDelivered": compares},
		},
		"a version that is none": {
			waits: "a/b",
			want:  map[string]string{"WaitFor": compares, "WaitDelivered": compares},
		},
		"an object that cannot be decoded": {
			before: func(w *waitRig) { w.reads(withUndecodable(w.t)); w.run() },
		},
		"lists that are forbidden without the selector": {
			before: func(w *waitRig) { w.forbids.Store(true); w.run() },
		},
		"a question that is not answered": {
			before: func(w *waitRig) { w.run(); w.hangs.Store(true) },
			during: func(w *waitRig) { time.Sleep(time.Minute); w.cancel() }, // before the watch falls silent
			want:   map[string]string{"WaitFresh": unknown},
		},
		"a restored server": {
			waits:  "20",
			before: func(w *waitRig) { w.run(); w.Set("20", kit.Pod("a", "20")) }, // the watch does not bring it
			during: func(w *waitRig) { w.restore("5") },
			want:   map[string]string{"WaitFor": compares + ": the server's history has gone back", "WaitDelivered": compares + ": the server's history has gone back"},
		},
		"a context that has ended, and all is there": {
			before: func(w *waitRig) { w.run(); w.cancel() },
			want:   map[string]string{"WaitFresh": "the newest version is not known" + ended},
		},
		"a context that has ended": {
			waits: "20",
			before: func(w *waitRig) {
				w.run()
				w.cancel()
			},
			want: map[string]string{"WaitFor": "version 20 is not reached" + ended, "WaitFresh": "the newest version is not known" + ended, "WaitDelivered": "version 20 is not reached" + ended},
		},
		"a context that ends": {
			waits:  "20",
			before: func(w *waitRig) { w.run(); w.Set("20") },
			during: func(w *waitRig) { w.cancel() },
			want:   map[string]string{"WaitFor": "version 20 is not reached" + ended, "WaitFresh": "version 20 is not reached" + ended, "WaitDelivered": "version 20 is not reached" + ended},
		},
		"an informer that has stopped, and all is there": {
			before: func(w *waitRig) { w.run(); w.stop() },
			want:   map[string]string{"WaitFresh": stopped},
		},
		"an informer that has stopped": {
			waits:  "20",
			before: func(w *waitRig) { w.run(); w.stop() },
			want:   map[string]string{"WaitFor": stopped, "WaitFresh": stopped, "WaitDelivered": stopped},
		},
		"an informer that stops": {
			waits:  "20",
			before: func(w *waitRig) { w.run(); w.Set("20") },
			during: func(w *waitRig) { w.stop() },
			want:   map[string]string{"WaitFor": stopped, "WaitFresh": stopped, "WaitDelivered": stopped},
		},
		"an informer that was never started": {
			before: func(*waitRig) {},
			during: func(w *waitRig) { w.cancel() },
			want:   map[string]string{"WaitSynced": begins, "WaitFor": begins, "WaitFresh": begins, "WaitDelivered": begins},
		},
		"an informer that does not sync": {
			before: func(w *waitRig) { w.Fail(rig.ErrPoison); rig.Start(w.t, w.i) },
			during: func(w *waitRig) { time.Sleep(time.Second); w.cancel() },
			want: map[string]string{
				"WaitSynced": "the informer is not synced" + ended + "; last error: ", "WaitFor": "the informer is not synced" + ended + "; last error: ",
				"WaitFresh": "the informer is not synced" + ended + "; last error: ", "WaitDelivered": "the informer is not synced" + ended + "; last error: ",
			},
		},
	} {
		for wait, call := range allWaits {
			t.Run(name+"/"+wait, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					version := cmp.Or(row.version, "10")
					w := newWaitRig(t, version)
					if row.before != nil {
						row.before(w)
					} else {
						w.run()
					}
					result := make(chan error, 1)
					go func() { result <- call(w.i, w.ctx, cmp.Or(row.waits, version)) }()
					synctest.Wait()
					if row.during != nil {
						row.during(w)
					}
					err := <-result
					if row.want[wait] == "" {
						require.NoError(t, err)
						return
					}
					require.ErrorContains(t, err, "informer pods: "+row.want[wait])
				})
			})
		}
	}
}

// WaitFor returns nil for an object that is stored, whatever the context.
func TestWaitForWithAnEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitRig(t, "10")
		w.run()
		w.cancel()
		for range 100 {
			require.NoError(t, w.i.WaitFor(w.ctx, kit.Pod("a", "10")))
		}
	})
}

// D33: WaitFresh waits until the source is watched, and returns when the watch opens.
func TestContract_D33_WaitFreshOfASourceThatIsNotWatchedYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, open := newWaitRig(t, "10"), make(chan struct{})
		refuses := w.OnWatch
		w.OnWatch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents == nil {
				<-open
			}
			return refuses(ctx, o)
		}
		w.run()
		require.NoError(t, w.i.WaitSynced(w.ctx))
		result := make(chan error, 1)
		go func() { result <- w.i.WaitFresh(w.ctx) }()
		rig.Pends(t, result)
		close(open)
		synctest.Wait()
		require.Len(t, result, 1)
		require.NoError(t, <-result)
	})
}

// D23, D33: WaitFresh waits until the reflector has noticed that the server was set back.
func TestContract_D33_WaitFreshOfAServerThatWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitRig(t, "10")
		w.run()
		w.restored.Store(true)
		w.Set("5", kit.Pod("a", "5"))
		result := make(chan error, 1)
		go func() { result <- w.i.WaitFresh(w.ctx) }()
		time.Sleep(time.Second)
		rig.Pends(t, result)
		w.Expire()
		require.NoError(t, <-result)
		require.Equal(t, "5", w.i.Indexer().Version())
	})
}

// A question that is never answered does not keep later ones from being asked: the calls wait for the next answer.
func TestWaitFreshAfterAQuestionThatIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hung atomic.Bool
		never := make(chan struct{})
		w := newWaitRig(t, "10")
		w.OnList = func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.Limit == 1 && hung.CompareAndSwap(false, true) {
				<-never
			}
			return nil, nil
		}
		w.run()
		results := make(chan error, 3)
		for range cap(results) {
			go func() { results <- w.i.WaitFresh(w.ctx) }()
			synctest.Wait()
		}
		for range cap(results) {
			require.NoError(t, <-results)
		}
		close(never)
	})
}
