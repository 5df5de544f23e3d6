package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestStoreReflectorNames(t *testing.T) {
	r := NewNamedReflector("mine", &ListWatch{}, &corev1.Pod{}, NewStore(MetaNamespaceKeyFunc), 0)
	require.Equal(t, "mine", r.Name())
	require.Equal(t, "*v1.Pod", r.TypeDescription())
	require.Empty(t, r.LastSyncResourceVersion())

	var widget unstructured.Unstructured
	widget.SetAPIVersion("example.com/v1")
	widget.SetKind("Widget")
	require.Equal(t, "example.com/v1, Kind=Widget", NewReflector(nil, &widget, nil, 0).TypeDescription())
	require.Equal(t, "example.com/v1, Kind=Widget", NewReflector(nil, &widget, nil, 0).messageName())
	require.Equal(t, "<unspecified>", NewReflector(nil, nil, nil, 0).TypeDescription())
	require.Equal(t, "pods", NewReflectorWithOptions(nil, nil, nil, ReflectorOptions{TypeDescription: "pods"}).TypeDescription())
	require.NotEmpty(t, NewReflector(nil, nil, nil, 0).Name())
}

// A reflector may run again after its end. It continues from its version.
func TestAStoreReflectorRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := kit.NewScript("10", kit.Pod("a", "1")), &recordingStore{}
		r := NewReflector(s, &corev1.Pod{}, w, 0)
		stop := make(chan struct{})
		done := runInBackground(t, func(context.Context) { r.Run(stop) })
		require.Equal(t, []string{"replace a@1 at 10"}, w.Take())
		require.ErrorIs(t, r.ListAndWatchWithContext(t.Context()), reflector.ErrStarted)
		close(stop)
		done()
		require.Equal(t, "10", r.LastSyncResourceVersion())
		s.Set("20", kit.Pod("a", "15"))
		startReflector(t, r)
		require.Equal(t, []string{"replace a@15 at 20"}, w.Take())
		require.Equal(t, "20", r.LastSyncResourceVersion())
	})
}

// If the first list at "0" has pages, later runs request pages, too, even after failures (B46).
func TestAStoreReflectorRequestsPagesAgain(t *testing.T) {
	for name, fails := range map[string]func(metav1.ListOptions) error{
		"nothing fails": func(metav1.ListOptions) error { return nil },
		"a page is requested again": func(o metav1.ListOptions) error {
			if o.Continue != "" {
				return apierrors.NewTooManyRequests("busy", 0)
			}
			return nil
		},
		"the first list fails": func(o metav1.ListOptions) error { return errPoison },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []metav1.ListOptions
				failed := false
				lw := &ListWatch{
					ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
						asked = append(asked, o)
						if err := fails(o); err != nil && !failed {
							failed = true
							return nil, err
						}
						list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}
						if o.Continue == "" {
							list.Continue = "more"
						}
						return list, nil
					},
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
				}
				r := NewReflector(ToListWatcherWithWatchListSemantics(lw, nonStreamingClient{}), &corev1.Pod{}, &recordingStore{}, 0)
				for range 2 {
					stop := startReflector(t, r)
					time.Sleep(time.Minute)
					stop()
				}
				last := asked[len(asked)-2] // and its second page
				require.Equal(t, "10", last.ResourceVersion)
				require.EqualValues(t, 500, last.Limit)
			})
		})
	}
}

func TestListAndWatchEndsWithAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		s.Fail(errPoison)
		r := NewReflector(s, &corev1.Pod{}, &recordingStore{}, 0)
		require.ErrorIs(t, r.ListAndWatch(t.Context().Done()), errPoison)
	})
}

func TestShouldResyncIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &recordingStore{}
		r := NewReflector(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, w, time.Minute)
		answers := []bool{false, true, false}
		r.ShouldResync = func() (yes bool) {
			yes, answers = answers[0], answers[1:]
			return yes
		}
		stop := startReflector(t, r)
		w.Take()
		time.Sleep(3*time.Minute + time.Second)
		require.Equal(t, []string{"resync "}, w.Take())
		stop()
	})
}

// ListAndWatch ends after the failures that end client-go's method.
func TestWhatEndsAListAndWatch(t *testing.T) {
	opened := reflector.WatchStarted{Version: "1"}
	internal := apierrors.NewInternalError(errPoison)
	slow := apierrors.NewTimeoutError("slow", 1)
	failed := func(op reflector.Operation, err error) reflector.Failed {
		return reflector.Failed{Operation: op, Class: reflector.ClassOf(err), Err: err}
	}
	for name, tc := range map[string]struct {
		patience time.Duration
		events   []reflector.Event
		ends     bool
		err      error
	}{
		"a list":                        {0, []reflector.Event{failed(reflector.OpList, errPoison)}, true, errPoison},
		"a list that has expired":       {0, []reflector.Event{failed(reflector.OpList, apierrors.NewResourceExpired("old"))}, false, nil},
		"a list of a later version":     {0, []reflector.Event{failed(reflector.OpList, apierrors.NewTimeoutError("Too large resource version", 1))}, false, nil},
		"a list that takes too long":    {0, []reflector.Event{failed(reflector.OpList, slow)}, true, slow},
		"a stream that a list follows":  {0, []reflector.Event{failed(reflector.OpStream, errPoison)}, false, nil},
		"a watch that is refused":       {0, []reflector.Event{failed(reflector.OpWatch, errPoison)}, true, errPoison},
		"a watch that breaks":           {0, []reflector.Event{opened, failed(reflector.OpWatch, errPoison)}, true, nil},
		"a watch that is not reopened":  {0, []reflector.Event{opened, reflector.WatchEnded{}, failed(reflector.OpWatch, errPoison)}, true, errPoison},
		"a busy server":                 {0, []reflector.Event{failed(reflector.OpWatch, apierrors.NewTooManyRequests("", 1))}, false, nil},
		"an internal error":             {0, []reflector.Event{opened, failed(reflector.OpWatch, internal)}, true, nil},
		"an internal error in patience": {time.Minute, []reflector.Event{opened, failed(reflector.OpWatch, internal)}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ended := false
			a := attempt{patience: tc.patience, end: func() { ended = true }}
			for _, e := range tc.events {
				a.observe(e)
			}
			require.Equal(t, tc.ends, ended)
			require.Equal(t, tc.err, a.err)
		})
	}
}

func TestPatienceWithInternalErrorsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := 0
		a := attempt{patience: time.Minute, end: func() { ends++ }}
		broken := reflector.Failed{Operation: reflector.OpWatch, Err: apierrors.NewInternalError(errors.New("broken"))}
		for range 2 {
			a.observe(reflector.WatchStarted{})
			a.observe(broken)
			require.Zero(t, ends)
			time.Sleep(30 * time.Second)
		}
		a.observe(reflector.WatchStarted{})
		a.observe(broken)
		require.Equal(t, 1, ends)
	})
}

// Watch error handlers of programs compile, because Reflector is client-go's type.
var (
	_ WatchErrorHandler            = func(*Reflector, error) {}
	_ WatchErrorHandlerWithContext = func(context.Context, *Reflector, error) {}
)

// A resync that the store refuses ends ListAndWatch without an error, and never ends Run.
func TestARefusedResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lw := &ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				time.Sleep(time.Minute) // the first resyncs come before the list
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		r := NewReflector(lw, &corev1.Pod{}, refusesResync{NewStore(MetaNamespaceKeyFunc)}, time.Second)
		require.NoError(t, r.ListAndWatchWithContext(ctx))
		require.NoError(t, ctx.Err(), "it ended before")
		r.RunWithContext(ctx)
		require.Error(t, ctx.Err(), "it went on until then")
	})
}

type refusesResync struct{ Store }

func (refusesResync) Resync() error { return errors.New("no resync here") }

// Run returns after the last resync has returned, because the resync uses the store.
func TestRunWaitsForAResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := slowResync{NewStore(MetaNamespaceKeyFunc), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			NewReflector(kit.NewScript("10"), &corev1.Pod{}, store, time.Second).RunWithContext(ctx)
		}()
		time.Sleep(time.Minute)
		cancel()
		time.Sleep(time.Minute)
		select {
		case <-returned:
			t.Error("the store is still resynced")
		default:
		}
		close(store.goOn)
		<-returned
	})
}

type slowResync struct {
	Store
	goOn chan struct{}
}

func (s slowResync) Resync() error { <-s.goOn; return nil }
