package engine_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// joinsKeys registers a function of keys.
func (f *testCore) joinsKeys(h func(indexer.Key), o informer.HandlerOptions) informer.Registration {
	r, err := f.view.HandleKeys(h, o)
	require.NoError(f.t, err)
	return r
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
			synctest.Test(t, func(t *testing.T) {
				f, every, last, gate := newTestCore(t, rig.PackedCold(), 1), &rig.KeyJournal{}, &rig.KeyJournal{}, make(chan struct{})
				f.joinsKeys(every.Handle, informer.HandlerOptions{Resync: time.Minute})
				r := f.joinsKeys(last.Handle, informer.HandlerOptions{Delivery: informer.Latest})
				f.start()
				last.Shut(gate)
				f.list("1", a)
				require.Equal(t, []string{"a"}, every.Take())
				require.Equal(t, []string{"a"}, last.Take(), "it is stuck in the initial state")
				row.then(f)
				require.Equal(t, row.every, every.Take())
				late := &rig.KeyJournal{}
				f.joinsKeys(late.Handle, informer.HandlerOptions{})
				require.Len(t, late.Take(), f.Writer().Indexer().Len())
				last.Shut(nil)
				close(gate)
				require.Equal(t, row.last, last.Take())
				require.Zero(t, r.Backlog())
				time.Sleep(time.Minute)
				require.Len(t, every.Take(), f.Writer().Indexer().Len(), "a resync")
				require.Zero(t, f.Status().Storage.Decodes)
			})
		})
	}
}

// keyTwins are a handler and a function of keys with the same options.
type keyTwins struct {
	handler, keys rig.KeyJournal
	of            []informer.Registration
}

func (f *testCore) joinsTwins(o informer.HandlerOptions) *keyTwins {
	w := &keyTwins{}
	w.of = append(w.of, f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		obj := c.New
		if c.Kind == informer.Deleted {
			obj = c.Old
		}
		key, _ := object.KeyOf(obj)
		w.handler.Handle(key)
	}), o), f.joinsKeys(w.keys.Handle, o))
	return w
}

// compare requires that both have got the same keys, in the same order.
func (w *keyTwins) compare(t *testing.T) {
	require.Equal(t, w.handler.Take(), w.keys.Take())
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
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 7))
				var o informer.Options[*corev1.Pod]
				if seed%2 == 0 {
					o = rig.PackedCold()
				}
				l := newHandlerHistory(t, r, o)
				var twins []*keyTwins
				l.start()
				l.list(0)
				for n := range 40 {
					if n%8 == 0 {
						twins = append(twins, l.joinsTwins(informer.HandlerOptions{Delivery: informer.Delivery(r.IntN(2)), Resync: time.Minute})) //nolint:gosec // 0 or 1
					}
					synctest.Wait() // all have caught up
					gate := make(chan struct{})
					for _, w := range twins {
						w.handler.Shut(gate)
						w.keys.Shut(gate)
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
						w.handler.Shut(nil)
						w.keys.Shut(nil)
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
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		seen, j := rig.NewEvents(), &rig.KeyJournal{}
		f := newTestCore(t, informer.Options[*corev1.Pod]{Observe: seen.Observe}, 1)
		r := f.joinsKeys(func(key indexer.Key) {
			j.Handle(key)
			switch key.Name {
			case "a":
				panic("on purpose")
			case "z":
				runtime.Goexit()
			}
		}, informer.HandlerOptions{Name: "clumsy", Delivery: d})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")), deltaOf(deltafifo.Added, kit.Pod("b", "3")))
		require.Equal(t, []string{"a", "a", "b"}, j.Take())
		require.True(t, kit.Closed(r.Synced()))
		require.Equal(t, 2, f.Status().Handlers[0].Failures)
		require.Equal(t, []informer.HandlerPanicked{{Handler: "clumsy", Value: "on purpose"}, {Handler: "clumsy", Value: "on purpose"}}, rig.Of[informer.HandlerPanicked](seen))
		f.apply(deltaOf(deltafifo.Added, kit.Pod("z", "4")), deltaOf(deltafifo.Added, kit.Pod("c", "5")))
		require.Equal(t, []string{"z"}, j.Take())
		require.ErrorIs(t, f.ExitError(), informer.ErrExited)
	})
}
