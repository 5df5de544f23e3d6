package informer_test

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var exits = kit.Label("poison", "exit")

// exiting is a source whose lists or watches end their goroutines while it says so.
type exiting struct {
	*rig.Script
	lists, watches atomic.Bool
}

func (e *exiting) List(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) {
	if e.lists.Load() {
		runtime.Goexit()
	}
	return e.Script.List(ctx, o)
}

func (e *exiting) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if e.watches.Load() {
		runtime.Goexit()
	}
	return e.Script.Watch(ctx, o)
}

// D28: if a function ends a goroutine of a run, the run ends: Run and all waits return ErrExited. What is stored stays
// readable.
func TestContract_D28_AFunctionThatEndsTheRun(t *testing.T) {
	for name, row := range map[string]struct {
		exit func(s *exiting, observe *atomic.Bool)
		says []string
	}{
		"the transform": {
			func(s *exiting, _ *atomic.Bool) {
				s.Send(watch.Added, kit.Pod("c", "12", kit.Label("in", "transform")))
			},
			nil,
		},
		"an index function": {
			func(s *exiting, _ *atomic.Bool) { s.Send(watch.Added, kit.Pod("c", "12", kit.Label("in", "index"))) },
			nil,
		},
		"an index function, in a list": {
			func(s *exiting, _ *atomic.Bool) {
				s.Set("20", kit.Pod("c", "12", kit.Label("in", "index")), kit.Pod("d", "13"))
				s.Expire()
			},
			nil,
		},
		"a list": {
			func(s *exiting, _ *atomic.Bool) { s.lists.Store(true); s.Expire() },
			[]string{"list pods", "source"},
		},
		"a watch": {
			func(s *exiting, _ *atomic.Bool) { s.watches.Store(true); s.Feed().End() },
			[]string{"watch pods", "source"},
		},
		"the observer": {
			func(s *exiting, observe *atomic.Bool) { observe.Store(true); s.Expire() },
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &exiting{Script: rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))}
				var observes atomic.Bool
				in := func(where string, p *corev1.Pod) {
					if p.Labels["in"] == where {
						runtime.Goexit()
					}
				}
				i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{
					Name:      "pods",
					Transform: func(p *corev1.Pod) (*corev1.Pod, error) { in("transform", p); return p, nil },
					Indexes: []indexer.Index[*corev1.Pod]{{Name: "in", Append: func(values []string, p *corev1.Pod) []string {
						in("index", p)
						return append(values, p.Labels["in"])
					}}},
					Observe: func(informer.Event) {
						if observes.Load() {
							runtime.Goexit()
						}
					},
				})
				j := &rig.Journal{}
				reg, err := i.Handle(j, informer.HandlerOptions{})
				require.NoError(t, err)
				wait, err := i.Start(t.Context())
				require.NoError(t, err)
				require.NoError(t, i.WaitSynced(t.Context()))
				synctest.Wait()
				s.Send(watch.Modified, kit.Pod("a", "11"))
				synctest.Wait()

				waits := make(chan error, 2)
				go func() { waits <- i.WaitDelivered(t.Context(), "99") }()
				go func() { waits <- i.WaitFor(t.Context(), kit.Pod("z", "99")) }()
				synctest.Wait()
				row.exit(s, &observes)
				err = wait()
				require.ErrorIs(t, err, informer.ErrExited)
				require.ErrorContains(t, err, "informer pods: ")
				for _, word := range row.says {
					require.ErrorContains(t, err, word)
				}
				for range cap(waits) {
					err := <-waits
					require.ErrorIs(t, err, informer.ErrExited)
					require.ErrorIs(t, err, informer.ErrStopped)
				}
				require.ErrorIs(t, i.WaitFresh(t.Context()), informer.ErrExited)
				st := i.Status()
				require.Equal(t, err.Error(), st.LastError.Error())
				require.True(t, st.Stopped && !st.Running && !st.Watching)
				require.True(t, kit.Closed(i.Done()) && kit.Closed(reg.Done()))
				require.Equal(t, "a@11", kit.Text(rig.Stored(t, i, "a")))
				require.Equal(t, 2, i.Indexer().Len(), "nothing of what was broken off shows")
				require.Equal(t, "11", st.Version)
				require.ElementsMatch(t, []string{"initial a@1", "initial b@2", "update a@1 a@11"}, j.Take())
			})
		})
	}
}

// D28: a goroutine can also end during the first full state. The store then shows nothing of it, and no handler gets an
// update of an object that it has not got before.
func TestContract_D28_TheFirstFullState(t *testing.T) {
	for _, in := range []string{"transform", "index"} {
		t.Run(in, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("in", in)), kit.Pod("c", "3"))
				exit := func(where string, p *corev1.Pod) {
					if p.Labels["in"] == where {
						runtime.Goexit()
					}
				}
				i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{
					Observe:   rig.Observed,
					Transform: func(p *corev1.Pod) (*corev1.Pod, error) { exit("transform", p); return p, nil },
					Indexes: []indexer.Index[*corev1.Pod]{{Name: "in", Append: func(values []string, p *corev1.Pod) []string {
						exit("index", p)
						return values
					}}},
				})
				j := &rig.Journal{}
				_, err := i.Handle(j, informer.HandlerOptions{})
				require.NoError(t, err)
				wait, err := i.Start(t.Context())
				require.NoError(t, err)
				require.ErrorIs(t, i.WaitSynced(t.Context()), informer.ErrExited)
				require.ErrorIs(t, wait(), informer.ErrExited)
				require.Zero(t, i.Indexer().Len())
				require.Empty(t, i.Status().Version)
				require.Empty(t, j.Take())
			})
		})
	}
}

// D28: a function that ends its goroutine when it is to make the source ends the run. No wait hangs because of it.
func TestContract_D28_ASourceThatIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		makers := []func() (reflector.Source, error){func() (reflector.Source, error) { runtime.Goexit(); return reflector.Source{}, nil }}
		i, _ := informer.As[*corev1.Pod](informer.JoinShared(makers, reflect.TypeFor[*corev1.Pod](), informer.Options[any]{Observe: rig.Observed}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		early := make(chan error, 1)
		go func() { early <- i.WaitFor(ctx, kit.Pod("a", "99")) }()
		synctest.Wait()
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		require.ErrorIs(t, wait(), informer.ErrExited)
		require.ErrorIs(t, <-early, informer.ErrExited)
		require.ErrorIs(t, i.WaitFor(ctx, kit.Pod("a", "99")), informer.ErrExited)
		require.NoError(t, ctx.Err())
	})
}

// captured collects the errors that utilruntime's handlers get.
func captured(t *testing.T) func() []error {
	var mu sync.Mutex
	var errs []error
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) { //nolint:reassign // it is there to be set
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}}
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers }) //nolint:reassign // as above
	return func() []error {
		mu.Lock()
		defer mu.Unlock()
		return errs
	}
}

// D28: client-go's Run returns after a report to utilruntime's handlers.
func TestContract_D28_ClientgosRun(t *testing.T) {
	for _, in := range []string{"transform", "index"} {
		t.Run(in, func(t *testing.T) {
			errs := captured(t)
			synctest.Test(t, func(t *testing.T) {
				s := rig.NewScript("10", kit.Pod("a", "1"))
				i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, 0, cache.Indexers{"labels": func(obj any) ([]string, error) {
					if in == "index" {
						return byLabels(obj)
					}
					return nil, nil
				}})
				if in == "transform" {
					require.NoError(t, i.SetTransform(func(obj any) (any, error) { return rig.FailByLabel(obj.(*corev1.Pod)) }))
				}
				r, _ := addRecorder(t, i)
				ended := make(chan struct{})
				go func() { defer close(ended); i.RunWithContext(t.Context()) }()
				synctest.Wait()
				s.Send(watch.Added, kit.Pod("b", "11", exits))
				<-ended
				require.True(t, i.IsStopped())
				require.ErrorIs(t, errs()[len(errs())-1], informer.ErrExited)
				require.Equal(t, []string{"initial a@1"}, r.Take())
				require.Equal(t, []string{"default/a"}, i.GetStore().ListKeys())
			})
		})
	}
}

// D28: so does the run of an informer with a single handler.
func TestContract_D28_ATransformOfAnUnsharedInformer(t *testing.T) {
	errs := captured(t)
	synctest.Test(t, func(t *testing.T) {
		s, r := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), &kit.Recorder{}
		_, c := informer.ForOneHandler(cache.InformerOptions{
			ListerWatcher: kit.ListerWatcher{Source: s}, ObjectType: &corev1.Pod{}, Handler: r.Handler(),
			Transform: func(obj any) (any, error) { return rig.FailByLabel(obj.(*corev1.Pod)) },
		})
		ended := make(chan struct{})
		go func() { defer close(ended); c.RunWithContext(t.Context()) }()
		synctest.Wait()
		s.Send(watch.Modified, kit.Pod("b", "11", exits))
		<-ended
		require.Len(t, errs(), 1)
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, r.Take())
	})
}

// D28: a watch error handler that ends its goroutine ends the run.
func TestContract_D28_AWatchErrorHandler(t *testing.T) {
	errs := captured(t)
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, 0, nil).(informer.Shared)
		calls := 0
		require.NoError(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) { calls++; runtime.Goexit() }))
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		s.Expire()
		require.ErrorIs(t, wait(), informer.ErrExited)
		require.Equal(t, 1, calls)
		require.Empty(t, errs(), "Start returns it")
	})
}

// D28: if a function ends the goroutine of a user's write, the write is broken off, no lock stays held, and
// the informer goes on.
func TestContract_D28_WritesOfUsers(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("z", "9"))
		i := create(s, 0, cache.Indexers{"labels": byLabels})
		errs := collectErrors(t, i)
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		x := i.GetIndexer()
		a, b, c := kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "2", exits), kit.Pod("c", "3", kit.Label("app", "x"))
		txn := func(obj any) cache.Transaction {
			return cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj}
		}
		for how, row := range map[string]struct {
			write func()
			holds []string
		}{
			"one":                {func() { _ = x.Update(b) }, nil},
			"all":                {func() { _ = x.Replace([]any{a, b, c}, "") }, nil},
			"in one transaction": {func() { _ = x.(cache.TransactionStore).Transaction(txn(a), txn(b), txn(c)) }, []string{"default/a"}},
		} {
			require.NoError(t, x.Replace(nil, ""))
			time.Sleep(2 * limits.RepeatEvery) // an object's error is reported once in this time
			*errs = nil
			require.False(t, rig.Apart(row.write), how)
			require.ElementsMatch(t, row.holds, x.ListKeys(), how)
			require.Len(t, *errs, 1)
			require.ErrorIs(t, (*errs)[0], informer.ErrExited)
		}
		require.NoError(t, x.Add(a))
		require.False(t, rig.Apart(func() {
			_ = i.AddIndexers(cache.Indexers{"late": func(any) ([]string, error) { runtime.Goexit(); return nil, nil }})
		}))
		require.NotContains(t, x.GetIndexers(), "late")
		s.Send(watch.Modified, kit.Pod("z", "11", kit.Label("app", "x")))
		s.Send(watch.Modified, kit.Pod("y", "12"))
		require.Len(t, r.Take(), 3)
		require.False(t, i.IsStopped())
	})
}

// D28: an observer that ends a user's goroutine ends no run.
func TestContract_D28_AnObserverOnAUsersGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Observe: func(e informer.Event) {
			if _, ok := e.(*indexer.IndexError); ok {
				runtime.Goexit()
			}
		}})
		require.False(t, rig.Apart(func() {
			_ = i.Shared().AddIndexers(cache.Indexers{"fails": func(any) ([]string, error) { return nil, rig.ErrPoison }})
		}))
		require.Contains(t, i.Shared().GetIndexer().GetIndexers(), "fails", "the index is added; its failure was reported too late")
		require.NoError(t, i.Shared().GetIndexer().Delete(kit.Pod("a", "1")))
		require.True(t, i.Status().Watching)
		require.Equal(t, []string{"initial a@1"}, j.Take())
	})
}

// A store without an informer reports that an index function has ended the goroutine of a write, and
// holds no lock.
func TestAFreeStoreReportsAGoexit(t *testing.T) {
	for name, write := range map[string]func(s *clientgostore.Free){
		"add": func(s *clientgostore.Free) { _ = s.Add(kit.Pod("a", "1", exits)) },
		"transaction": func(s *clientgostore.Free) {
			_ = s.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("b", "1", exits)})
		},
		"replace": func(s *clientgostore.Free) { _ = s.Replace([]any{kit.Pod("c", "1"), kit.Pod("d", "1", exits)}, "1") },
	} {
		t.Run(name, func(t *testing.T) {
			s := clientgostore.NewFree(cache.MetaNamespaceKeyFunc, cache.Indexers{"labels": byLabels})
			var recorded error
			s.Failed = func(err error) { recorded = err }
			require.False(t, rig.Apart(func() { write(s) }))
			require.ErrorIs(t, recorded, informer.ErrExited)
			require.Empty(t, s.List())
			require.NoError(t, s.Add(kit.Pod("e", "1")))
		})
	}
}
