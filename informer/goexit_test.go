package informer

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var exits = kit.Label("poison", "exit")

// D28: if the transform ends its goroutine, the other objects of a list and of a watch still
// arrive, and no request is repeated.
func TestContract_D28_ATransformThatEndsItsGoroutine(t *testing.T) {
	transform := func(obj any) (any, error) {
		if p, ok := obj.(*corev1.Pod); ok {
			return failByLabel(p)
		}
		return obj, nil
	}
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", exits), kit.Pod("c", "3"))
		i := create(s, 0, nil)
		require.NoError(t, i.SetTransform(transform))
		errs := collectErrors(t, i)
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		require.ElementsMatch(t, []string{"initial a@1", "initial c@3"}, r.Take())
		s.Send(watch.Modified, kit.Pod("a", "11", exits))
		s.Send(watch.Modified, kit.Pod("c", "12"))
		s.Send(watch.Modified, kit.Pod("b", "13"))
		time.Sleep(2 * repeatEvery) // otherwise the next error of a would be held back
		s.Send(watch.Deleted, kit.Pod("a", "14", exits))
		s.Send(watch.Added, kit.Pod("d", "15"))
		require.Equal(t, []string{"update c@3 c@12", "add b@13", "delete tombstone default/a a@1", "add d@15"}, r.Take())
		require.Equal(t, "15", i.LastSyncResourceVersion())
		lists, _ := s.Requests()
		require.Equal(t, 1, lists)
		require.Len(t, *errs, 3)
		for n, name := range []string{"b", "a", "a"} {
			require.ErrorIs(t, (*errs)[n], ErrTransform)
			require.ErrorIs(t, (*errs)[n], indexer.ErrGoexit)
			require.ErrorContains(t, (*errs)[n], "default/"+name)
		}
	})
}

func TestContract_D28_ATransformOfAnInformerThatNobodyShares(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, r := newScript("10", kit.Pod("a", "1", exits), kit.Pod("b", "2")), &kit.Recorder{}
		_, c := ForOneHandler(cache.InformerOptions{
			ListerWatcher: kit.ListerWatcher{Source: s}, ObjectType: &corev1.Pod{}, Handler: r.Handler(),
			Transform: func(obj any) (any, error) { return failByLabel(obj.(*corev1.Pod)) },
		})
		runsController(t, c)
		s.Send(watch.Modified, kit.Pod("b", "11", exits))
		s.Send(watch.Modified, kit.Pod("a", "12"))
		require.Equal(t, []string{"initial b@2", "add a@12"}, r.Take())
	})
}

// D28: if an index function ends its goroutine, the object is left out of that index alone, and
// WaitDelivered still returns.
func TestContract_D28_AnIndexFunctionThatEndsItsGoroutine(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10", kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "2", exits), kit.Pod("c", "3", kit.Label("app", "x")))
		i := create(s, 0, cache.Indexers{"labels": byLabels, "name": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.Pod).Name}, nil
		}})
		errs := collectErrors(t, i)
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		has := func(index, value string, names ...string) {
			t.Helper()
			keys, err := i.GetIndexer().IndexKeys(index, value)
			require.NoError(t, err)
			require.Len(t, keys, len(names))
			for n, name := range names {
				require.Equal(t, "default/"+name, keys[n])
			}
		}
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2", "initial c@3"}, r.Take())
		has("labels", "app=x", "a", "c")
		has("name", "b", "b")
		require.Len(t, *errs, 1)
		require.ErrorIs(t, (*errs)[0], indexer.ErrGoexit)
		require.ErrorContains(t, (*errs)[0], "default/b")

		woken := make(chan error)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			woken <- i.(interface {
				WaitDelivered(context.Context, string) error
			}).WaitDelivered(ctx, "12")
		}()
		synctest.Wait()
		s.Send(watch.Modified, kit.Pod("b", "11", kit.Label("app", "x")))
		s.Send(watch.Modified, kit.Pod("a", "12", exits))
		require.NoError(t, <-woken)
		require.Equal(t, []string{"update b@2 b@11", "update a@1 a@12"}, r.Take())
		has("labels", "app=x", "b", "c")
		has("name", "a", "a")

		s.Set("20", kit.Pod("a", "12", exits), kit.Pod("c", "13", exits), kit.Pod("d", "14", kit.Label("app", "x")))
		s.Expire()
		require.Equal(t, []string{"delete tombstone default/b b@11", "update c@3 c@13", "add d@14"}, r.Take())
		has("labels", "app=x", "d")
		has("name", "c", "c")
		require.Equal(t, "20", i.LastSyncResourceVersion())
	})
}

// D28: if an index function ends the goroutine of a user's write, the write is completed first. The
// informer goes on.
func TestContract_D28_WritesOfUsers(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10")
		i := create(s, 0, cache.Indexers{"labels": byLabels})
		collectErrors(t, i)
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		x := i.GetIndexer()
		a, b, c := kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "2", exits), kit.Pod("c", "3", kit.Label("app", "x"))
		writes := map[string]func(){
			"one by one": func() { _, _, _ = x.Add(a), x.Add(c), x.Update(b) },
			"all":        func() { _ = x.Replace([]any{a, b, c}, "") },
			"in one transaction": func() {
				txn := func(obj any) cache.Transaction {
					return cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj}
				}
				_ = x.(cache.TransactionStore).Transaction(txn(a), txn(b), txn(c))
			},
		}
		ended := false
		for how, write := range writes {
			require.NoError(t, x.Replace(nil, ""))
			require.Equal(t, ended, goexit.Apart(write), "%s: from then on the index function has a goroutine of its own", how)
			ended = true
			require.ElementsMatch(t, []any{a, b, c}, x.List(), how)
			keys, err := x.IndexKeys("labels", "app=x")
			require.NoError(t, err)
			require.Equal(t, []string{"default/a", "default/c"}, keys, how)
		}
		require.False(t, goexit.Apart(func() { _ = x.AddIndexers(cache.Indexers{"late": byLabels}) }))
		found, err := x.Index("late", a)
		require.NoError(t, err)
		require.ElementsMatch(t, []any{a, c}, found)
		require.Contains(t, x.GetIndexers(), "late")
		s.Send(watch.Modified, kit.Pod("b", "11", kit.Label("app", "x")))
		require.Equal(t, []string{"update b@2 b@11"}, r.Take())
	})
}

// D28: an informer goes on when Observe or a watch error handler ends its goroutine.
func TestContract_D28_AnObserver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("poison", "error")))
		told := 0
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: failByLabel, Observe: func(Event) { told++; runtime.Goexit() }})
		s.Send(watch.Modified, kit.Pod("a", "11", kit.Label("poison", "error")))
		s.Send(watch.Modified, kit.Pod("b", "12"))
		s.Set("20", kit.Pod("a", "11"))
		s.Expire()
		require.Equal(t, []string{"initial a@1", "add b@12", "lost b@12", "update a@1 a@11"}, j.take())
		require.GreaterOrEqual(t, told, 8)
		require.True(t, i.Status().Watching)
	})
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10", kit.Pod("a", "1"))
		i := create(s, 0, nil)
		require.NoError(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) { runtime.Goexit() }))
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		s.Set("20", kit.Pod("a", "11"))
		s.Expire()
		require.Equal(t, []string{"initial a@1", "update a@1 a@11"}, r.Take())
	})
}

// D28: functions that end goroutines in one run do not disturb the next run.
func TestContract_D28_ARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		byApp := indexer.Index[*corev1.Pod]{Name: "app", Append: func(values []string, p *corev1.Pod) []string {
			if p.Labels["app"] == "exit" {
				runtime.Goexit()
			}
			return append(values, p.Labels["app"])
		}}
		s := newScript("10", kit.Pod("a", "1", exits), kit.Pod("b", "2", kit.Label("app", "exit")))
		i := New(s, Options[*corev1.Pod]{Transform: failByLabel, Indexes: []indexer.Index[*corev1.Pod]{byApp}, Observe: observed})
		j := &journal{}
		_, err := i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		for n := range 3 {
			cancel, wait := starts(t, i)
			require.Equal(t, 1, i.Status().Quarantined)
			require.Equal(t, 1, i.Status().Unindexed)
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+n), exits))
			s.Send(watch.Modified, kit.Pod("b", fmt.Sprint(11+n), kit.Label("app", "exit")))
			synctest.Wait()
			require.Equal(t, 1, i.Status().Quarantined)
			require.Equal(t, 1, i.Status().Unindexed)
			s.Set("20", kit.Pod("a", "11", exits), kit.Pod("b", fmt.Sprint(11+n), kit.Label("app", "exit")))
			cancel()
			wait()
		}
		require.Equal(t, []string{"initial b@2", "update b@2 b@11", "update b@11 b@12", "update b@12 b@13"}, j.take())
	})
}

// D28: a reflector lists again after a shared value was found changed, even if a transform has
// ended its goroutine before.
func TestContract_D28_AndASharedValueThatWasChanged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1", exits))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: failByLabel})
		if !i.core.sharing.watched {
			t.Skip("shared values are watched in verify mode")
		}
		s.Set("20", kit.Pod("a", "1", exits), kit.Pod("b", "12"))
		close(i.core.sharing.broken)
		synctest.Wait()
		require.Equal(t, []string{"add b@12"}, j.take())
		lists, _ := s.Requests()
		require.Equal(t, 2, lists)
	})
}

// goroutines returns the number of goroutines, once it has stopped changing.
func goroutines() int {
	n := runtime.NumGoroutine()
	for same := 0; same < 50; same++ {
		time.Sleep(time.Millisecond)
		if now := runtime.NumGoroutine(); now != n {
			n, same = now, 0
		}
	}
	return n
}

// An informer has one goroutine that applies changes, one for each source and one for each handler.
// Run's own goroutine is among them, except with a transform, which may end its goroutine.
func TestTheGoroutinesOfAnInformer(t *testing.T) {
	const handlers = 10
	for _, transform := range []func(*corev1.Pod) (*corev1.Pod, error){nil, failByLabel} {
		i := New(newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{
			Transform: transform, Observe: observed,
			Decoding: reflector.Decoding{Unshared: true}, // in verify mode shared values have guards
		})
		for range handlers {
			_, err := i.Handle(HandlerFunc[*corev1.Pod](forget[*corev1.Pod]), HandlerOptions{})
			require.NoError(t, err)
		}
		before := goroutines()
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { _ = i.Run(ctx) })
		require.NoError(t, i.WaitSynced(ctx))
		want := handlers + 2
		if transform != nil {
			want++
		}
		require.Equal(t, want, goroutines()-before)
		cancel()
		run.Wait()
	}
}
