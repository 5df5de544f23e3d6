package informer

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// keyJournal records the names of the keys that a handler gets. A call waits at the gate, if there is one.
type keyJournal struct {
	mu    sync.Mutex
	names []string
	gate  chan struct{}
}

func (j *keyJournal) handle(key indexer.Key) {
	j.mu.Lock()
	j.names = append(j.names, key.Name)
	gate := j.gate
	j.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// take returns the names recorded since the previous take.
func (j *keyJournal) take() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()

	names := j.names
	j.names = nil
	return names
}

// shut makes the next call wait until the gate is opened.
func (j *keyJournal) shut(gate chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.gate = gate
}

// joinsKeys registers a function of keys.
func (f *testCore) joinsKeys(h func(indexer.Key), o HandlerOptions) *registration {
	return f.receive(&keyReceiver{handle: h}, o)
}

// A function gets one key for each change, of the initial state and of resyncs, too, and nothing is decoded
// for it.
func TestEachChangeIsOneKey(t *testing.T) {
	unverified(t)
	a := kit.Pod("a", "1", kit.UID("one"))
	for _, row := range []struct {
		name        string
		then        func(f *testCore)
		every, last []string // with Every, and with Latest while the handler is stuck
	}{
		{"nothing", func(*testCore) {}, nil, nil},
		{"an add", func(f *testCore) { f.apply(deltaOf(deltafifo.Added, kit.Pod("b", "2"))) }, []string{"b"}, []string{"b"}},
		{"two updates", func(f *testCore) {
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2", kit.UID("one"))), deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("one"))))
		}, []string{"a", "a"}, []string{"a"}},
		{"a delete", func(f *testCore) { f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "2", kit.UID("one")))) }, []string{"a"}, []string{"a"}},
		{"a delete of the unknown", func(f *testCore) {
			lost := deltaOf(deltafifo.Deleted, kit.Pod("c", "3"))
			lost.Object, lost.Lost = nil, true
			f.apply(deltaOf(deltafifo.Deleted, kit.Pod("b", "2")), lost)
		}, []string{"b"}, []string{"b"}},
		{"a delete without the final state", func(f *testCore) {
			lost := deltaOf(deltafifo.Deleted, kit.Pod("a", "2", kit.UID("one")))
			lost.Object, lost.Lost = nil, true
			f.apply(lost)
		}, []string{"a"}, []string{"a"}},
		{"a relist without it", func(f *testCore) { f.list("9", kit.Pod("b", "2")) }, []string{"a", "b"}, []string{"a", "b"}},
		{"a relist with the same", func(f *testCore) { f.list("9", kit.Pod("a", "1", kit.UID("one"))) }, nil, nil},
		{"another under its name", func(f *testCore) {
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2", kit.UID("two"))))
		}, []string{"a", "a"}, []string{"a", "a"}},
		{"one that comes and goes", func(f *testCore) {
			f.apply(deltaOf(deltafifo.Added, kit.Pod("b", "2")), deltaOf(deltafifo.Deleted, kit.Pod("b", "3")))
		}, []string{"b", "b"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f, every, last, gate := newTestCore(t, packedCold(), 1), &keyJournal{}, &keyJournal{}, make(chan struct{})
				f.joinsKeys(every.handle, HandlerOptions{Resync: time.Minute})
				r := f.joinsKeys(last.handle, HandlerOptions{Delivery: Latest})
				f.start()
				last.shut(gate)
				f.list("1", a)
				require.Equal(t, []string{"a"}, every.take())
				require.Equal(t, []string{"a"}, last.take(), "it is stuck in the initial state")
				row.then(f)
				require.Equal(t, row.every, every.take())
				late := &keyJournal{}
				f.joinsKeys(late.handle, HandlerOptions{})
				require.Len(t, late.take(), f.Writer().Indexer().Len())
				last.shut(nil)
				close(gate)
				require.Equal(t, row.last, last.take())
				require.Zero(t, r.Backlog())
				time.Sleep(time.Minute)
				require.Len(t, every.take(), f.Writer().Indexer().Len(), "a resync")
				require.Zero(t, f.Status().Storage.Decodes)
			})
		})
	}
}

// A delete on which the transform fails has the key of the object.
func TestTheKeyOfADeleteThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, j := newScript("10", kit.Pod("a", "1")), &keyJournal{}
		i := New(sourceOf(s), Options[*corev1.Pod]{Transform: rename, Observe: observed})
		_, err := i.HandleKeys(j.handle, HandlerOptions{})
		require.NoError(t, err)
		start(t, i)
		require.Equal(t, []string{"a"}, j.take())
		s.Send(watch.Deleted, kit.Pod("a", "12", sick))
		require.Equal(t, []string{"a"}, j.take())
	})
}

// keyTwins are a handler and a function of keys with the same options.
type keyTwins struct {
	handler, keys keyJournal
	of            []*registration
}

func (f *testCore) joinsTwins(o HandlerOptions) *keyTwins {
	w := &keyTwins{}
	w.of = append(w.of, f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
		obj := c.New
		if c.Kind == Deleted {
			obj = c.Old
		}
		key, _ := object.KeyOf(obj)
		w.handler.handle(key)
	}), o), f.joinsKeys(w.keys.handle, o))
	return w
}

// compare requires that both have got the same keys, in the same order.
func (w *keyTwins) compare(t *testing.T) {
	require.Equal(t, w.handler.take(), w.keys.take())
	require.Equal(t, w.of[0].Backlog(), w.of[1].Backlog())
	require.Equal(t, kit.Closed(w.of[0].Synced()), kit.Closed(w.of[1].Synced()))
}

// The keys are those of the changes that a handler gets, over random changes, however far both lag.
func TestKeysAreThoseOfAHandlersChanges(t *testing.T) {
	seeds := uint64(40)
	if tier.Raced() && !tier.Long() {
		seeds = 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 7))
				var o Options[*corev1.Pod]
				if seed%2 == 0 {
					o = packedCold()
				}
				l := newHandlerHistory(t, r, o)
				var twins []*keyTwins
				l.start()
				l.list(0)
				for n := range 40 {
					if n%8 == 0 {
						twins = append(twins, l.joinsTwins(HandlerOptions{Delivery: Delivery(r.IntN(2)), Resync: time.Minute})) //nolint:gosec // 0 or 1
					}
					synctest.Wait() // all have caught up
					gate := make(chan struct{})
					for _, w := range twins {
						w.handler.shut(gate)
						w.keys.shut(gate)
					}
					l.serial++
					l.apply(deltaOf(deltafifo.Modified, kit.Pod("first", fmt.Sprint(l.serial))))
					synctest.Wait() // all are stuck in this change
					for range r.IntN(6) {
						if r.IntN(5) == 0 {
							l.list(l.anySource())
						} else {
							l.changes(func(uint16) bool { return true })
						}
					}
					for _, w := range twins {
						w.handler.shut(nil)
						w.keys.shut(nil)
					}
					close(gate)
					for _, w := range twins {
						w.compare(t)
					}
					if r.IntN(4) == 0 {
						time.Sleep(time.Minute)
						for _, w := range twins {
							w.compare(t)
						}
					}
				}
			})
		})
	}
}

// A function of keys that panics loses the one key; one that ends its goroutine ends the run.
func TestAFunctionOfKeysThatFails(t *testing.T) {
	kit.SurvivePanics(t)
	eachDelivery(t, func(t *testing.T, d Delivery) {
		seen, j := newEvents(), &keyJournal{}
		f := newTestCore(t, Options[*corev1.Pod]{Observe: seen.observe}, 1)
		r := f.joinsKeys(func(key indexer.Key) {
			j.handle(key)
			switch key.Name {
			case "a":
				panic("on purpose")
			case "z":
				runtime.Goexit()
			}
		}, HandlerOptions{Name: "clumsy", Delivery: d})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")), deltaOf(deltafifo.Added, kit.Pod("b", "3")))
		require.Equal(t, []string{"a", "a", "b"}, j.take())
		require.True(t, kit.Closed(r.Synced()))
		require.Equal(t, 2, f.Status().Handlers[0].Failures)
		require.Equal(t, []HandlerPanicked{{Handler: "clumsy", Value: "on purpose"}, {Handler: "clumsy", Value: "on purpose"}}, of[HandlerPanicked](seen))
		f.apply(deltaOf(deltafifo.Added, kit.Pod("z", "4")), deltaOf(deltafifo.Added, kit.Pod("c", "5")))
		require.Equal(t, []string{"z"}, j.take())
		require.ErrorIs(t, f.ExitError(), ErrExited)
	})
}

// The status of a function of keys is that of any handler: its name is its place in the source unless it has
// one.
func TestTheStatusOfAFunctionOfKeys(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j, s := &keyJournal{gate: make(chan struct{})}, newScript("10", kit.Pod("a", "1"))
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
		r, err := i.HandleKeys(j.handle, HandlerOptions{})
		require.NoError(t, err)
		require.Contains(t, r.Name(), "informer.(*keyJournal)")
		named, err := i.HandleKeys(func(indexer.Key) {}, HandlerOptions{Name: "keys"})
		require.NoError(t, err)
		require.Equal(t, "keys", named.Name())
		start(t, i)
		require.Equal(t, []string{"a"}, j.take())
		for n := range 3 {
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+n)))
		}
		synctest.Wait()
		h := i.Status().Handlers[0]
		require.False(t, h.Synced)
		require.Equal(t, 4, h.Backlog)
		delivered := waiting(t.Context(), i, "13")
		pends(t, delivered)
		close(j.gate)
		require.NoError(t, <-delivered)
		h = i.Status().Handlers[0]
		require.True(t, h.Synced)
		require.Equal(t, HandlerStatus{Name: r.Name(), Synced: true, Delivered: 4}, h)
		r.Stop()
		<-r.Done()
		require.Len(t, i.Status().Handlers, 1)
	})
}

// A key costs no memory. An event whose object shows no key is passed over.
func TestKeysAreReadWithoutAllocation(t *testing.T) {
	const runs = 100
	f, keys := newTestCore(t, Options[*corev1.Pod]{}, 1), 0
	to := f.DecodingFor(&keyReceiver{handle: func(indexer.Key) { keys++ }})
	a, b := f.Writer().Encode(kit.Pod("a", "1")), f.Writer().Encode(kit.Pod("a", "2"))
	for _, e := range []eventlog.Event{
		{Pair: eventlog.Pair{New: a}, Header: eventlog.Header{Kind: eventlog.Added}},
		{Pair: eventlog.Pair{Old: a, New: b}, Header: eventlog.Header{Kind: eventlog.Updated}},
		{Pair: eventlog.Deletion(b, a), Header: eventlog.Header{Kind: eventlog.Deleted}},
	} {
		keys = 0
		batch := batchOf(slices.Repeat([]eventlog.Event{e}, runs+1)...)
		require.Zero(t, testing.AllocsPerRun(runs, func() { to.CallHandler(batch) }))
		require.Equal(t, runs+1, keys)
	}
	keys = 0
	to.CallHandler(batchOf(eventlog.Event{Pair: eventlog.Pair{New: "no object"}, Header: eventlog.Header{Kind: eventlog.Added}}))
	require.Zero(t, keys)
}
