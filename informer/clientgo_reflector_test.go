package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// written is a store that writes down how it is called.
type written struct {
	recorder
	fails error // guarded by the recorder's mu
}

// refuse makes all calls fail, or none with nil.
func (w *written) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.fails = err
}

func (w *written) call(what string, obj any) error {
	w.add(what+" "+spoken(obj), obj)
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.fails
}

func (w *written) Add(obj any) error    { return w.call("add", obj) }
func (w *written) Update(obj any) error { return w.call("update", obj) }
func (w *written) Delete(obj any) error { return w.call("delete", obj) }
func (w *written) Resync() error        { return w.call("resync", "") }
func (w *written) Replace(list []any, version string) error {
	line := "replace"
	for _, obj := range list {
		line += " " + spoken(obj)
	}
	return w.call(line+" at", version)
}

// marked is a store that wants bookmarks.
type marked struct{ written }

func (m *marked) Bookmark(version string) error { return m.call("bookmark", version) }

// reflects runs a reflector for the time of a test.
func reflects(t *testing.T, r *reflector.Reflector) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.Run(ctx) })
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

func mark(version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}

// B44, B50, B63, B64: one Replace for each full state, then each change, and
// the bookmarks for who wants them.
func TestContract_B50_B64_AReflectorIntoAnyStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, wants := range []bool{true, false} {
			s := newScript("10", pod("a", "1"), pod("b", "2"))
			plain, with := &written{}, &marked{}
			store, w := cache.ReflectorStore(plain), plain
			if wants {
				store, w = with, &with.written
			}
			r := NewReflector(listerWatcher{s}, &corev1.Pod{}, store, 0)
			stop := reflects(t, r)
			require.Equal(t, []string{"replace a@1 b@2 at 10"}, w.take())
			require.Equal(t, "10", r.Version(), "B50")
			s.send(watch.Added, pod("c", "11"))
			s.send(watch.Modified, pod("a", "12"))
			s.send(watch.Deleted, pod("b", "13"))
			s.send(watch.Bookmark, mark("15"))
			s.send(watch.Added, &corev1.Node{})
			want := []string{"add c@11", "update a@12", "delete b@13"}
			if wants {
				want = append(want, "bookmark 15")
			}
			require.Equal(t, want, w.take())
			require.Equal(t, "15", r.Version())
			s.set("20", pod("d", "16"))
			s.expire()
			require.Equal(t, []string{"replace d@16 at 20"}, w.take())
			stop()
		}
	})
}

// A store of ours hears of bookmarks too.
func TestAReflectorIntoOurStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"))
		store := NewStore(cache.MetaNamespaceKeyFunc)
		reflects(t, NewReflector(listerWatcher{s}, &corev1.Pod{}, store, 0))
		s.send(watch.Bookmark, mark("15"))
		synctest.Wait()
		require.Equal(t, "15", store.LastStoreSyncResourceVersion())
		require.Equal(t, []string{"default/a"}, store.ListKeys())
	})
}

// B62, D10: what a store refuses is told; the rest goes on. A full state that
// is refused is tried again.
func TestContract_B62_D10_AStoreThatRefuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"))
		w, log := &written{}, &lines{}
		logger := log.logger()
		reflects(t, NewReflectorWithOptions(listerWatcher{s}, &corev1.Pod{}, w, cache.ReflectorOptions{Logger: &logger, Name: "mine", ResyncPeriod: time.Minute}))
		w.take()
		w.refuse(errPoison)
		s.send(watch.Modified, pod("a", "11"))
		synctest.Wait()
		require.Equal(t, 1, log.count("default/a"))
		w.refuse(nil)
		s.send(watch.Modified, pod("a", "12"))
		require.Equal(t, []string{"update a@11", "update a@12"}, w.take())
		w.refuse(errPoison)
		s.expire()
		synctest.Wait()
		w.refuse(nil)
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"replace a@1 at 10", "replace a@1 at 10"}, w.take())
		require.Positive(t, log.count("mine"))
		w.refuse(errPoison)
		time.Sleep(time.Minute)
		require.Equal(t, 1, log.count("resync mine"))
	})
}

// B65, D11: the store is resynced every period, from start to stop.
func TestContract_D11_ResyncsOfAReflector(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"))
		w := &written{}
		stop := reflects(t, NewReflector(listerWatcher{s}, &corev1.Pod{}, w, time.Minute))
		w.take()
		s.fail(errPoison)
		s.expire() // the watch is down from now on
		time.Sleep(2*time.Minute + time.Second)
		require.Equal(t, []string{"resync ", "resync "}, w.take())
		stop()
		time.Sleep(5 * time.Minute)
		require.Empty(t, w.take())
	})
}

// B71, D13: a store that transforms does so once for each object, also where
// the initial state is streamed.
func TestContract_B71_D13_AStoreThatTransforms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var seen []string
		queue := newDeltaFIFO(cache.DeltaFIFOOptions{
			EmitDeltaTypeReplaced: true, KnownObjects: NewStore(cache.MetaNamespaceKeyFunc),
			Transformer: func(obj any) (any, error) {
				seen = append(seen, spoken(obj))
				return obj, nil
			},
		})
		s := newScript("10", pod("a", "1"), pod("b", "2"))
		stop := reflects(t, NewReflector(listerWatcher{s}, &corev1.Pod{}, queue, 0))
		s.send(watch.Modified, pod("a", "11"))
		synctest.Wait()
		stop()
		require.Equal(t, []string{"a@1", "b@2", "a@11"}, seen)
		require.Equal(t, cache.Deltas{
			{Type: cache.Replaced, Object: pod("a", "1")}, {Type: cache.Updated, Object: pod("a", "11")},
		}, popped(t, queue))
	})
}

// A stream of the initial state may take back what it brought.
func TestAStreamedStateIntoAnyStore(t *testing.T) {
	w := &written{}
	s := &storeSink{storeSettings: storeSettings{store: w, observe: func(e Event) { t.Error(e) }}}
	write := func(op deltafifo.Op, p *corev1.Pod) {
		key, _ := keyOf(p)
		require.NoError(t, s.Write(t.Context(), []deltafifo.Delta{{Op: op, Key: key, Object: p}}))
	}
	require.NoError(t, s.Begin(t.Context(), reflector.SameHistory))
	write(deltafifo.Added, pod("a", "1"))
	write(deltafifo.Added, pod("b", "2"))
	write(deltafifo.Added, pod("c", "3"))
	write(deltafifo.Modified, pod("b", "4"))
	write(deltafifo.Deleted, pod("a", "5"))
	write(deltafifo.Deleted, pod("c", "6"))
	write(deltafifo.Added, pod("a", "7"))
	require.Empty(t, w.lines, "not before it is whole")
	require.NoError(t, s.Commit(t.Context(), "8"))
	require.NoError(t, s.Begin(t.Context(), reflector.SameHistory))
	write(deltafifo.Added, pod("d", "9"))
	require.NoError(t, s.Abort(t.Context()))
	write(deltafifo.Added, pod("e", "9"))
	require.Equal(t, []string{"replace b@4 a@7 at 8", "add e@9"}, w.lines)
}

func TestAReflectorOfNothing(t *testing.T) {
	require.ErrorIs(t, NewReflector(nil, nil, NewStore(nil), 0).Run(t.Context()), reflector.ErrNoSource)
	require.ErrorIs(t, NewReflector(listerWatcher{mute{}}, nil, nil, 0).Run(t.Context()), reflector.ErrNoSink)
}

// newCounted returns a controller over a queue of ours, and what it did.
func newCounted(s *script, change func(*cache.Config)) (cache.Controller, *recorder) {
	r := &recorder{}
	config := &cache.Config{
		Queue:         newDeltaFIFO(cache.DeltaFIFOOptions{EmitDeltaTypeReplaced: true}),
		ListerWatcher: listerWatcher{s}, ObjectType: &corev1.Pod{}, FullResyncPeriod: time.Minute,
		Process: func(obj any, initial bool) error {
			d := obj.(cache.Deltas).Newest()
			r.add(fmt.Sprint(d.Type, " ", spoken(d.Object), " ", initial), obj)
			return errPoison
		},
	}
	if change != nil {
		change(config)
	}
	return NewController(config), r
}

// B24, B98: what processing returns is told, and it goes on; also after a
// panic, where panics do not end the process.
func TestContract_B24_B98_AControllerOverAQueue(t *testing.T) {
	survive(t)
	log := captured(t)
	bubble(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"), pod("b", "2"))
		c, r := newCounted(s, nil)
		require.False(t, c.HasSynced())
		stop := runsController(t, c)
		require.Equal(t, []string{"Replaced a@1 true", "Replaced b@2 true"}, r.take())
		require.True(t, c.HasSynced() && cache.IsDone(c.HasSyncedChecker()))
		require.Equal(t, "10", c.LastSyncResourceVersion())
		require.Equal(t, 2, log.count(errPoison.Error()))
		stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Equal(t, 1, s.lists)
	})
	bubble(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"), pod("b", "2"))
		c, _ := newCounted(s, func(config *cache.Config) {
			config.Process = func(any, bool) error { panic(errPoison) }
		})
		runsController(t, c)
		require.True(t, c.HasSynced())
	})
}

// B98: with ReallyCrash a panic comes out of Run, and nothing is left running.
func TestContract_B98_APanicComesOutOfRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := newCounted(newScript("10", pod("a", "1")), func(config *cache.Config) {
			config.Process = func(any, bool) error { panic(errPoison) }
		})
		require.PanicsWithError(t, errPoison.Error(), func() { c.RunWithContext(klog.NewContext(t.Context(), klog.Logger{})) })
	})
}

func TestAControllersBatchesAndErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", pod("a", "1"), pod("b", "2"))
		var batches []int
		var errs []error
		var due bool
		c, r := newCounted(s, func(config *cache.Config) {
			config.ProcessBatch = func(deltas []cache.Delta, _ bool) error {
				batches = append(batches, len(deltas))
				return nil
			}
			config.WatchErrorHandler = func(r *cache.Reflector, err error) {
				require.NotNil(t, r)
				errs = append(errs, err)
			}
			config.ShouldResync = func() bool { due = true; return false }
		})
		runsController(t, c)
		s.send(watch.Modified, pod("a", "11"))
		require.Equal(t, []string{"Updated a@11 false"}, r.take())
		require.Equal(t, []int{2}, batches)
		s.fail(errPoison)
		s.expire()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ErrorIs(t, errors.Join(errs...), errPoison)
		require.True(t, due)
	})
}

func TestAControllerWithoutAQueue(t *testing.T) {
	log := captured(t)
	NewController(&cache.Config{ListerWatcher: listerWatcher{mute{}}}).RunWithContext(t.Context())
	require.Equal(t, 1, log.count(reflector.ErrNoSink.Error()))
}
