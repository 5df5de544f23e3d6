package cache

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// written is a store that writes down how it is called.
type written struct {
	kit.Recorder
	mu    sync.Mutex
	fails error
}

// refuse makes all calls fail, or none with nil.
func (w *written) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.fails = err
}

func (w *written) call(what string, obj any) error {
	w.Recorder.Add(what+" "+kit.Text(obj), obj)
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
		line += " " + kit.Text(obj)
	}
	return w.call(line+" at", version)
}

// marked is a store that wants bookmarks.
type marked struct{ written }

func (m *marked) Bookmark(version string) error { return m.call("bookmark", version) }

// reflects runs a reflector for the time of a test.
func reflects(t *testing.T, r *StoreReflector) (stop func()) {
	return running(t, r.RunWithContext)
}

func mark(version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}

// B44, B50, B63, B64: one Replace for each full state, then each change, and
// the bookmarks for who wants them.
func TestContract_B50_B64_AReflectorIntoAnyStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, wants := range []bool{true, false} {
			s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
			plain, with := &written{}, &marked{}
			store, w := ReflectorStore(plain), plain
			if wants {
				store, w = with, &with.written
			}
			r := NewReflector(s, &corev1.Pod{}, store, 0)
			stop := reflects(t, r)
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

// A store of ours hears of bookmarks too.
func TestAReflectorIntoOurStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		store := NewStore(MetaNamespaceKeyFunc)
		reflects(t, NewReflector(s, &corev1.Pod{}, store, 0))
		s.Send(watch.Bookmark, mark("15"))
		synctest.Wait()
		require.Equal(t, "15", store.LastStoreSyncResourceVersion())
		require.Equal(t, []string{"default/a"}, store.ListKeys())
	})
}

// B62, D10: what a store refuses is told; the rest goes on. A full state that
// is refused is tried again.
func TestContract_B62_D10_AStoreThatRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		w, log := &written{}, &kit.Log{}
		logger := log.Logger()
		reflects(t, NewReflectorWithOptions(s, &corev1.Pod{}, w, ReflectorOptions{Logger: &logger, Name: "mine", ResyncPeriod: time.Minute}))
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
		w := &written{}
		stop := reflects(t, NewReflector(s, &corev1.Pod{}, w, time.Minute))
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

// B71, D13: a store that transforms does so once for each object, also where
// the initial state is streamed.
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
		stop := reflects(t, NewReflector(s, &corev1.Pod{}, queue, 0))
		s.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		stop()
		require.Equal(t, []string{"a@1", "b@2", "a@11"}, seen)
		require.Equal(t, Deltas{
			{Type: Replaced, Object: kit.Pod("a", "1")}, {Type: Updated, Object: kit.Pod("a", "11")},
		}, popped(t, queue))
	})
}

// A stream of the initial state may take back what it brought.
func TestAStreamedStateIntoAnyStore(t *testing.T) {
	w := &written{}
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

func TestAReflectorOfNothing(t *testing.T) {
	require.ErrorIs(t, NewReflector(nil, nil, NewStore(nil), 0).ListAndWatchWithContext(t.Context()), reflector.ErrNoSource)
	require.ErrorIs(t, NewReflector(&ListWatch{}, nil, nil, 0).ListAndWatchWithContext(t.Context()), reflector.ErrNoSink)
}

// Where a key function ends the goroutine, a reflector leaves the change out.
func TestContract_D28_AKeyFunctionThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		store := NewStore(func(obj any) (string, error) {
			if p, ok := obj.(*corev1.Pod); ok && p.ResourceVersion == "11" {
				runtime.Goexit()
			}
			return MetaNamespaceKeyFunc(obj)
		})
		reflects(t, NewReflector(s, &corev1.Pod{}, store, 0))
		s.Send(watch.Added, kit.Pod("b", "11"))
		s.Send(watch.Added, kit.Pod("c", "12"))
		synctest.Wait()
		require.ElementsMatch(t, []string{"default/a", "default/c"}, store.ListKeys())
		s.Set("20", kit.Pod("b", "11"), kit.Pod("d", "13"))
		s.Expire()
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []string{"default/a", "default/c"}, store.ListKeys(), "a list is taken whole, or not")
		s.Set("30", kit.Pod("b", "21"), kit.Pod("d", "13"))
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []string{"default/b", "default/d"}, store.ListKeys())
	})
}

// A user's store may end the goroutine of each resync.
func TestContract_D28_Resyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &exitingStore{}
		reflects(t, NewReflector(kit.NewScript("10", kit.Pod("a", "1")), &corev1.Pod{}, store, time.Minute))
		time.Sleep(3*time.Minute + time.Second)
		require.Equal(t, []string{"replace a@1 at 10", "resync ", "resync ", "resync "}, store.Take())
	})
}

// exitingStore is a store whose Resync ends the goroutine.
type exitingStore struct{ written }

func (m *exitingStore) Resync() error {
	_ = m.written.Resync()
	runtime.Goexit()
	return nil
}

// versioned is a store that wants to know the version, after each change and bookmark.
type versioned struct{ written }

func (v *versioned) UpdateResourceVersion(version string) { v.Recorder.Add("version "+version, nil) }

// A store that implements client-go's ResourceVersionUpdater is told the version: not
// that of a list, nor of the unordered objects that a watch from no version begins with.
func TestAStoreThatWantsTheVersion(t *testing.T) {
	for version, want := range map[string][]string{
		"10": {"add c@11", "version 11", "update a@12", "version 12", "delete b@13", "version 13", "version 15"},
		"":   {"add c@11", "update a@12", "version 12", "delete b@13", "version 13", "version 15"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := kit.NewScript(version, kit.Pod("a", "1"), kit.Pod("b", "2"))
			store := &versioned{}
			stop := reflects(t, NewReflector(s, &corev1.Pod{}, store, 0))
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

// The back-off of the options says how long to wait after failures.
func TestTheBackoffOfTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked []time.Duration
		lw := &ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			asked = append(asked, time.Since(start))
			return nil, errPoison
		}}
		backoff := &wait.Backoff{Duration: time.Second, Factor: 10, Steps: 5, Cap: 30 * time.Second}
		r := NewReflectorWithOptions(ToListWatcherWithWatchListSemantics(lw, unstreaming{}), &corev1.Pod{}, &written{}, ReflectorOptions{Backoff: backoff})
		stop := reflects(t, r)
		time.Sleep(100 * time.Second)
		stop()
		require.Equal(t, []time.Duration{0, 1 * time.Second, 11 * time.Second, 41 * time.Second, 71 * time.Second}, asked)
		require.Equal(t, 5, backoff.Steps, "the options are the caller's")
	})
}

// unstreaming is a client that says that it cannot stream.
type unstreaming struct{}

func (unstreaming) IsWatchListSemanticsUnSupported() bool { return true }

// The clock of the options waits for back-offs and resyncs.
func TestTheClockOfTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		s.Fail(errPoison)
		store, clock, start := &written{}, newHandClock(flowcontrol.NewBackOff(0, 0).Clock.NewTimer), time.Now()
		r := NewReflectorWithOptions(s, &corev1.Pod{}, store, ReflectorOptions{Clock: clock, ResyncPeriod: time.Hour})
		stop := reflects(t, r)
		require.Empty(t, store.Take())
		s.Fail(nil)
		clock.step()
		require.Equal(t, []string{"replace a@1 at 10"}, store.Take())
		clock.step()
		require.Equal(t, []string{"resync "}, store.Take())
		require.Equal(t, start, time.Now())
		stop()
	})
}

// handClock is a clock that a test moves by hand. T is client-go's type of a timer,
// whose package is not imported here.
type handClock[T any] struct {
	mu      sync.Mutex
	waiting []chan time.Time
}

func newHandClock[T any](func(time.Duration) T) *handClock[T] { return &handClock[T]{} }

func (c *handClock[T]) After(time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	ch := make(chan time.Time, 1)
	c.waiting = append(c.waiting, ch)
	return ch
}

// step ends all waits.
func (c *handClock[T]) step() {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, ch := range c.waiting {
		ch <- time.Now()
	}
	c.waiting = nil
}

func (*handClock[T]) Now() time.Time                      { return time.Now() }
func (*handClock[T]) Since(at time.Time) time.Duration    { return time.Since(at) }
func (*handClock[T]) NewTimer(time.Duration) T            { panic("nobody waits so") }
func (*handClock[T]) Tick(time.Duration) <-chan time.Time { panic("nobody waits so") }
func (*handClock[T]) Sleep(time.Duration)                 { panic("nobody waits so") }
