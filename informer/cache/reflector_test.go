package cache

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// recordingStore records its calls.
type recordingStore struct {
	kit.Recorder
	mu    sync.Mutex
	fails error
}

// refuse makes all calls fail with an error. nil ends that.
func (w *recordingStore) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.fails = err
}

func (w *recordingStore) call(what string, obj any) error {
	w.Recorder.Add(what+" "+kit.Text(obj), obj)
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.fails
}

func (w *recordingStore) Add(obj any) error    { return w.call("add", obj) }
func (w *recordingStore) Update(obj any) error { return w.call("update", obj) }
func (w *recordingStore) Delete(obj any) error { return w.call("delete", obj) }
func (w *recordingStore) Resync() error        { return w.call("resync", "") }
func (w *recordingStore) Replace(list []any, version string) error {
	line := "replace"
	for _, obj := range list {
		line += " " + kit.Text(obj)
	}
	return w.call(line+" at", version)
}

// bookmarkStore is a store with a Bookmark method.
type bookmarkStore struct{ recordingStore }

func (m *bookmarkStore) Bookmark(version string) error { return m.call("bookmark", version) }

// startReflector runs a reflector until the test ends.
func startReflector(t *testing.T, r *StoreReflector) (stop func()) {
	return runInBackground(t, r.RunWithContext)
}

func mark(version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}

// B44, B50, B63, B64: a store gets one Replace for each list, then each change, and bookmarks if it
// has a method for them.
func TestContract_B50_B64_AReflectorIntoAnyStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, wants := range []bool{true, false} {
			s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
			plain, with := &recordingStore{}, &bookmarkStore{}
			store, w := ReflectorStore(plain), plain
			if wants {
				store, w = with, &with.recordingStore
			}
			r := NewReflector(s, &corev1.Pod{}, store, 0)
			stop := startReflector(t, r)
			require.Equal(t, []string{"replace a@1 b@2 at 10"}, w.Take())
			require.Equal(t, "10", r.LastSyncResourceVersion(), "B50")
			s.Send(watch.Added, kit.Pod("c", "11"))
			s.Send(watch.Modified, kit.Pod("a", "12"))
			s.Send(watch.Deleted, kit.Pod("b", "13"))
			s.Send(watch.Bookmark, mark("15"))
			s.Send(watch.Added, &corev1.Node{})
			want := []string{"add c@11", "update a@12", "delete b@13"}
			if wants {
				want = append(want, "bookmark 15")
			}
			require.Equal(t, want, w.Take())
			require.Equal(t, "15", r.LastSyncResourceVersion())
			s.Set("20", kit.Pod("d", "16"))
			s.Expire()
			require.Equal(t, []string{"replace d@16 at 20"}, w.Take())
			stop()
		}
	})
}

// This module's stores also get bookmarks.
func TestAReflectorIntoOurStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		store := NewStore(MetaNamespaceKeyFunc)
		startReflector(t, NewReflector(s, &corev1.Pod{}, store, 0))
		s.Send(watch.Bookmark, mark("15"))
		synctest.Wait()
		require.Equal(t, "15", store.LastStoreSyncResourceVersion())
		require.Equal(t, []string{"default/a"}, store.ListKeys())
	})
}

// B62, D10: a change that the store refuses is reported, and later changes continue. A refused list is
// retried.
func TestContract_B62_D10_AStoreThatRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		w, log := &recordingStore{}, &kit.Log{}
		logger := log.Logger()
		startReflector(t, NewReflectorWithOptions(s, &corev1.Pod{}, w, ReflectorOptions{Logger: &logger, Name: "mine", ResyncPeriod: time.Minute}))
		w.Take()
		w.refuse(errPoison)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.Equal(t, 1, log.Count("default/a"))
		w.refuse(nil)
		s.Send(watch.Modified, kit.Pod("a", "12"))
		require.Equal(t, []string{"update a@11", "update a@12"}, w.Take())
		w.refuse(errPoison)
		s.Expire()
		synctest.Wait()
		w.refuse(nil)
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"replace a@1 at 10", "replace a@1 at 10"}, w.Take())
		require.Positive(t, log.Count("mine"))
		w.refuse(errPoison)
		time.Sleep(time.Minute)
		require.Equal(t, 1, log.Count("resync mine"))
	})
}

// B65, D11: the store is resynced every period, from start to stop.
func TestContract_D11_ResyncsOfAReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		w := &recordingStore{}
		stop := startReflector(t, NewReflector(s, &corev1.Pod{}, w, time.Minute))
		w.Take()
		s.Fail(errPoison)
		s.Expire() // the watch is down from now on
		time.Sleep(2*time.Minute + time.Second)
		require.Equal(t, []string{"resync ", "resync "}, w.Take())
		stop()
		time.Sleep(5 * time.Minute)
		require.Empty(t, w.Take())
	})
}

// B71, D13: a store with a transform transforms each object once, even if the initial state is streamed.
func TestContract_B71_D13_AStoreThatTransforms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		queue := NewDeltaFIFOWithOptions(DeltaFIFOOptions{
			EmitDeltaTypeReplaced: true, KnownObjects: NewStore(MetaNamespaceKeyFunc),
			Transformer: func(obj any) (any, error) {
				seen = append(seen, kit.Text(obj))
				return obj, nil
			},
		})
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		stop := startReflector(t, NewReflector(s, &corev1.Pod{}, queue, 0))
		s.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		stop()
		require.Equal(t, []string{"a@1", "b@2", "a@11"}, seen)
		require.Equal(t, Deltas{
			{Type: Replaced, Object: kit.Pod("a", "1")}, {Type: Updated, Object: kit.Pod("a", "11")},
		}, popOne(t, queue))
	})
}

// A streamed initial state may contain deletions of its objects.
func TestAStreamedStateIntoAnyStore(t *testing.T) {
	w := &recordingStore{}
	s := &storeSink{storeSettings: storeSettings{store: w, observe: func(e informer.Event) { t.Error(e) }}}
	write := func(op deltafifo.Op, p *corev1.Pod) {
		key := indexer.Key{Namespace: p.Namespace, Name: p.Name}
		require.NoError(t, s.Write(t.Context(), []deltafifo.Delta{{Op: op, Key: key, Object: p}}))
	}
	require.NoError(t, s.Begin(t.Context(), reflector.SameHistory))
	write(deltafifo.Added, kit.Pod("a", "1"))
	write(deltafifo.Added, kit.Pod("b", "2"))
	write(deltafifo.Added, kit.Pod("c", "3"))
	write(deltafifo.Modified, kit.Pod("b", "4"))
	write(deltafifo.Deleted, kit.Pod("a", "5"))
	write(deltafifo.Deleted, kit.Pod("c", "6"))
	write(deltafifo.Added, kit.Pod("a", "7"))
	require.Empty(t, w.Lines(), "not before it is whole")
	require.NoError(t, s.Commit(t.Context(), "8"))
	require.NoError(t, s.Begin(t.Context(), reflector.SameHistory))
	write(deltafifo.Added, kit.Pod("d", "9"))
	require.NoError(t, s.Abort(t.Context()))
	write(deltafifo.Added, kit.Pod("e", "9"))
	require.Equal(t, []string{"replace b@4 a@7 at 8", "add e@9"}, w.Lines())
}

// The key function of a store may distinguish objects with the same namespace and name, such as objects of
// several clusters. The store gets all of them, from a list and from a stream.
func TestObjectsOfOneNameInSeveralClusters(t *testing.T) {
	const cluster = "cluster"
	of := func(in, uid, version string) *corev1.Pod {
		p := kit.Pod("a", version)
		p.UID, p.Annotations = types.UID(uid), map[string]string{cluster: in}
		return p
	}
	byCluster := func(obj any) (string, error) {
		p := obj.(*corev1.Pod)
		return p.Annotations[cluster] + "|" + p.Name, nil
	}
	for name, uid := range map[string]func(string) string{
		"with UIDs":    func(in string) string { return "uid-" + in },
		"without UIDs": func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, store := kit.NewScript("10", of("east", uid("east"), "1"), of("west", uid("west"), "2")), NewStore(byCluster)
				startReflector(t, NewReflector(s, &corev1.Pod{}, store, 0))
				require.ElementsMatch(t, []string{"east|a", "west|a"}, store.ListKeys())
			})
		})
	}
	t.Run("a stream", func(t *testing.T) {
		store := NewStore(byCluster)
		s := &storeSink{storeSettings: storeSettings{store: store}}
		ctx := t.Context()
		require.NoError(t, s.Begin(ctx, reflector.SameHistory))
		delta := func(op deltafifo.Op, p *corev1.Pod) deltafifo.Delta {
			return deltafifo.Delta{Op: op, Key: object.Key(p), UID: string(p.UID), Version: p.ResourceVersion, Object: p}
		}
		require.NoError(t, s.Write(ctx, []deltafifo.Delta{
			delta(deltafifo.Added, of("east", "1", "1")), delta(deltafifo.Added, of("west", "2", "2")), delta(deltafifo.Added, of("north", "3", "3")),
			delta(deltafifo.Modified, of("west", "2", "4")), delta(deltafifo.Deleted, of("east", "1", "5")), delta(deltafifo.Added, of("north", "3", "6")),
		}))
		require.NoError(t, s.Commit(ctx, "10"))
		var held []string
		for _, obj := range store.List() {
			p := obj.(*corev1.Pod)
			held = append(held, p.Annotations[cluster]+"@"+p.ResourceVersion)
		}
		require.ElementsMatch(t, []string{"west@4", "north@6"}, held)
	})
}

// Pages may overlap. The store gets an object once, in its last version.
func TestAnObjectOfTwoPages(t *testing.T) {
	w := &recordingStore{}
	s := &storeSink{storeSettings: storeSettings{store: w}}
	ctx := t.Context()
	require.NoError(t, s.Begin(ctx, reflector.SameHistory))
	for _, p := range []*corev1.Pod{kit.Pod("a", "1", kit.UID("a")), kit.Pod("b", "2", kit.UID("b")), kit.Pod("a", "3", kit.UID("a"))} {
		require.NoError(t, s.Write(ctx, []deltafifo.Delta{{Op: deltafifo.Added, Key: object.Key(p), UID: string(p.UID), Version: p.ResourceVersion, Object: p}}))
	}
	require.NoError(t, s.Commit(ctx, "10"))
	require.Equal(t, []string{"replace a@3 b@2 at 10"}, w.Lines())
}

func TestAReflectorOfNothing(t *testing.T) {
	require.ErrorIs(t, NewReflector(nil, nil, NewStore(nil), 0).ListAndWatchWithContext(t.Context()), reflector.ErrNoSource)
	require.ErrorIs(t, NewReflector(&ListWatch{}, nil, nil, 0).ListAndWatchWithContext(t.Context()), reflector.ErrNoSink)
}

// exitingStore ends the goroutine of a call.
type exitingStore struct {
	recordingStore
	in string
}

func (e *exitingStore) Add(obj any) error {
	if e.in == "add" {
		runtime.Goexit()
	}
	return e.recordingStore.Add(obj)
}

func (e *exitingStore) Replace(all []any, version string) error {
	if e.in == "replace" {
		runtime.Goexit()
	}
	return e.recordingStore.Replace(all, version)
}

func (e *exitingStore) Resync() error {
	_ = e.recordingStore.Resync()
	runtime.Goexit()
	return nil
}

// D28: a store that ends its goroutine ends the goroutine of Run. A resync has its own goroutine. If it ends
// that, Run returns an error.
func TestContract_D28_AStoreThatEndsItsGoroutine(t *testing.T) {
	for in, want := range map[string][]string{
		"replace": nil,
		"add":     {"replace a@1 at 10"},
		"resync":  {"replace a@1 at 10", "add b@11", "resync "},
	} {
		t.Run(in, func(t *testing.T) {
			l := kit.CaptureLog(t)
			synctest.Test(t, func(t *testing.T) {
				s, store := kit.NewScript("10", kit.Pod("a", "1")), &exitingStore{in: in}
				r := NewReflector(s, &corev1.Pod{}, store, time.Minute)
				ended, returned := make(chan struct{}), false
				go func() {
					defer close(ended)
					r.RunWithContext(t.Context())
					returned = true
				}()
				synctest.Wait()
				if in != "replace" {
					s.Send(watch.Added, kit.Pod("b", "11"))
				}
				<-ended
				require.Equal(t, in == "resync", returned)
				require.Equal(t, want, store.Take())
			})
			if in == "resync" {
				require.Equal(t, 1, l.Count("ended its goroutine"))
			}
		})
	}
}

// D28: a controller's Run returns if its queue or its error handler ends the goroutine of its reflector.
func TestContract_D28_AControllerWhoseErrorHandlerEndsItsGoroutine(t *testing.T) {
	l := kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		c := New(&Config{
			Queue: NewDeltaFIFO(MetaNamespaceKeyFunc, nil), ListerWatcher: s, ObjectType: &corev1.Pod{},
			Process:           func(any, bool) error { return nil },
			WatchErrorHandler: func(*Reflector, error) { runtime.Goexit() },
		})
		ended := make(chan struct{})
		go func() { defer close(ended); c.RunWithContext(t.Context()) }()
		synctest.Wait()
		s.Expire()
		<-ended
	})
	require.Equal(t, 1, l.Count("ended its goroutine"))
}

// versionStore is a store that gets the version of each change and bookmark.
type versionStore struct{ recordingStore }

func (v *versionStore) UpdateResourceVersion(version string) { v.Recorder.Add("version "+version, nil) }

// A store with client-go's ResourceVersionUpdater gets the versions of changes and bookmarks. It does not get
// the version of a list, or those of the unordered objects at the beginning of a watch without a version.
func TestAStoreThatWantsTheVersion(t *testing.T) {
	for version, want := range map[string][]string{
		"10": {"add c@11", "version 11", "update a@12", "version 12", "delete b@13", "version 13", "version 15"},
		"":   {"add c@11", "update a@12", "version 12", "delete b@13", "version 13", "version 15"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := kit.NewScript(version, kit.Pod("a", "1"), kit.Pod("b", "2"))
			store := &versionStore{}
			stop := startReflector(t, NewReflector(s, &corev1.Pod{}, store, 0))
			require.Equal(t, []string{"replace a@1 b@2 at " + version}, store.Take())
			s.Send(watch.Added, kit.Pod("c", "11"))
			s.Send(watch.Modified, kit.Pod("a", "12"))
			store.refuse(errPoison)
			s.Send(watch.Deleted, kit.Pod("b", "13"))
			s.Send(watch.Bookmark, mark("15"))
			require.Equal(t, want, store.Take())
			stop()
		})
	}
}

// nonStreamingClient is a client that reports that it cannot stream.
type nonStreamingClient struct{}

func (nonStreamingClient) IsWatchListSemanticsUnSupported() bool { return true }
