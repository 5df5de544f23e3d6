package informer

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// libraries are client-go's informer and ours, by the same interface.
var libraries = map[string]func(s *kit.Script) cache.SharedIndexInformer{
	"client-go": func(s *kit.Script) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(s, &corev1.Pod{}, 0, cache.Indexers{})
	},
	"tidemark": func(s *kit.Script) cache.SharedIndexInformer {
		return newShared(s, &corev1.Pod{}, 0, cache.Indexers{})
	},
}

// What the first full state does to objects that a program has put into the store before Run is told:
// they are updated, or deleted with a tombstone, and were never added.
func TestContract_T19_AStoreFilledByHandBeforeRun(t *testing.T) {
	for name, create := range libraries {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := create(kit.NewScript("10", kit.Pod("both", "5"), kit.Pod("listed", "6")))
				r, _ := addRecorder(t, i)
				require.NoError(t, i.GetIndexer().Add(kit.Pod("both", "1")))
				require.NoError(t, i.GetIndexer().Add(kit.Pod("only", "2")))
				startClientgo(t, i)
				require.Equal(t, []string{"delete tombstone default/only only@2", "update both@1 both@5", "initial listed@6"}, r.Take())
				require.Len(t, i.GetStore().List(), 2)
				require.True(t, i.HasSynced())
				late, reg := addRecorder(t, i)
				synctest.Wait()
				require.ElementsMatch(t, []string{"initial both@5", "initial listed@6"}, late.Take())
				require.True(t, reg.HasSynced())
			})
		})
	}
}

// A native handler is told the same, with each way of delivery.
func TestContract_T19_ANativeHandlerAndAStoreFilledByHandBeforeRun(t *testing.T) {
	for _, delivery := range []Delivery{Every, Latest} {
		synctest.Test(t, func(t *testing.T) {
			i, j := New(newScript("10", kit.Pod("both", "5")), Options[*corev1.Pod]{}), &journal{}
			reg, err := i.Handle(j, HandlerOptions{Delivery: delivery})
			require.NoError(t, err)
			x := i.Shared().GetIndexer()
			require.NoError(t, x.Add(kit.Pod("both", "1")))
			require.NoError(t, x.Add(kit.Pod("only", "2")))
			starts(t, i)
			synctest.Wait()
			require.ElementsMatch(t, []string{"update both@1 both@5", "lost only@2"}, j.take())
			require.True(t, closed(reg.Synced()))
		})
	}
}

// A version that a program has put into the store before the first full state is no progress of the
// source: WaitDelivered waits for the source.
func TestContract_D33_WaitDeliveredDoesNotCountWhatWasWrittenByHand(t *testing.T) {
	for name, write := range map[string]func(x cache.Indexer) error{
		"add":      func(x cache.Indexer) error { return x.Add(kit.Pod("only", "100")) },
		"replace":  func(x cache.Indexer) error { return x.Replace([]any{kit.Pod("only", "1")}, "100") },
		"bookmark": func(x cache.Indexer) error { x.Bookmark("100"); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript("60", kit.Pod("a", "5"))
				s.Fail(errPoison)
				i := New(s, Options[*corev1.Pod]{Observe: observed})
				require.NoError(t, write(i.Shared().GetIndexer()))
				require.Equal(t, "100", i.Shared().LastSyncResourceVersion(), "B39")
				starts(t, i)
				waited := make(chan error, 1)
				go func() { waited <- i.WaitDelivered(t.Context(), "50") }()
				synctest.Wait()
				pends(t, waited)
				s.Fail(nil)
				require.NoError(t, <-waited)
				require.Equal(t, "60", i.Indexer().Version())
				require.Equal(t, 1, i.Indexer().Len())
			})
		})
	}
}

// Nor is it while the write is being made.
func TestContract_D33_WaitDeliveredDoesNotCountWhatIsBeingWrittenByHand(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var i *Informer[*corev1.Pod]
	var waited []error // the store's self-check calls the function, too
	looks := indexer.Index[*corev1.Pod]{Name: "looks", Append: func(values []string, p *corev1.Pod) []string {
		if p.Name == "second" {
			require.NotEmpty(t, i.Indexer().Version(), "the first write shows already")
			waited = append(waited, i.WaitDelivered(ended, "50"))
		}
		return values
	}}
	i = New(newScript("60"), Options[*corev1.Pod]{Observe: observed, Indexes: []indexer.Index[*corev1.Pod]{looks}})
	require.Nil(t, i.Shared().GetIndexer().(cache.TransactionStore).Transaction(
		cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("first", "100")},
		cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("second", "101")},
	))
	require.NotEmpty(t, waited)
	for _, err := range waited {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// If a program has removed an object by hand, the handlers of both APIs hear of its delete when the
// source reports it, once.
func TestContract_T19_TheDeleteOfAnObjectRemovedByHand(t *testing.T) {
	removals := map[string]func(x cache.Indexer, p *corev1.Pod) error{
		"delete":  func(x cache.Indexer, p *corev1.Pod) error { return x.Delete(p) },
		"replace": func(x cache.Indexer, _ *corev1.Pod) error { return x.Replace(nil, "") },
	}
	for name, remove := range removals {
		for _, delivery := range []Delivery{Every, Latest} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newScript("10", kit.Pod("a", "1"))
					i, j := New(s, Options[*corev1.Pod]{}), &journal{}
					_, err := i.Handle(j, HandlerOptions{Delivery: delivery})
					require.NoError(t, err)
					r, _ := addRecorder(t, i.Shared())
					starts(t, i)
					require.Equal(t, []string{"initial a@1"}, j.take())
					r.Take()
					require.NoError(t, remove(i.Shared().GetIndexer(), kit.Pod("a", "1")))
					send := func(kind watch.EventType, obj runtime.Object) {
						s.Send(kind, obj)
						synctest.Wait()
					}
					send(watch.Deleted, kit.Pod("a", "11"))
					require.Equal(t, []string{"delete a@11"}, j.take())
					require.Equal(t, []string{"delete a@11"}, r.Take())
					send(watch.Deleted, kit.Pod("a", "11"))
					require.Empty(t, j.take(), "it knows of none")

					send(watch.Added, kit.Pod("a", "12"))
					require.NoError(t, remove(i.Shared().GetIndexer(), kit.Pod("a", "12")))
					send(watch.Added, kit.Pod("a", "13"))
					send(watch.Deleted, kit.Pod("a", "14"))
					send(watch.Deleted, kit.Pod("a", "14"))
					require.Len(t, i.core.removals, 0)
				})
			})
		}
	}
}

// What was removed by hand is forgotten with the next full state.
func TestObjectsRemovedByHandAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{})
		require.Len(t, j.take(), 2)
		for _, name := range []string{"a", "b"} {
			require.NoError(t, i.Shared().GetIndexer().Delete(kit.Pod(name, "1")))
		}
		require.Len(t, i.core.removals, 2)
		s.Set("20", kit.Pod("a", "1"))
		s.Expire()
		synctest.Wait()
		require.Equal(t, []string{"add a@1"}, j.take())
		require.Empty(t, i.core.removals)
	})
}

// So is what comes back under its key, whoever puts it.
func TestObjectsRemovedByHandThatComeBackAreForgotten(t *testing.T) {
	for name, put := range map[string]func(s *script, x cache.Indexer) error{
		"watched": func(s *script, _ cache.Indexer) error { s.Send(watch.Modified, kit.Pod("a", "11")); return nil },
		"added":   func(_ *script, x cache.Indexer) error { return x.Add(kit.Pod("a", "1")) },
		"replace": func(_ *script, x cache.Indexer) error { return x.Replace([]any{kit.Pod("a", "1")}, "") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScript("10", kit.Pod("a", "1"))
				i, _ := startWithJournal(t, s, Options[*corev1.Pod]{})
				require.NoError(t, i.Shared().GetIndexer().Delete(kit.Pod("a", "1")))
				require.Len(t, i.core.removals, 1)
				require.NoError(t, put(s, i.Shared().GetIndexer()))
				synctest.Wait()
				require.Equal(t, 1, i.Indexer().Len())
				require.Empty(t, i.core.removals)
			})
		})
	}
}

// The full state of another source says nothing of them.
func TestContract_T19_TheDeleteOfAnObjectRemovedByHandFromOneOfTwoSources(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, other := newScript("10", kit.Pod("a", "1")), newScript("10")
		i, j := Join([]reflector.Source{s, other}, Options[*corev1.Pod]{Observe: observed}), &journal{}
		j.mustHandle(t, i)
		start(t, i)
		synctest.Wait()
		require.Equal(t, []string{"initial a@1"}, j.take())
		require.NoError(t, i.Shared().GetIndexer().Delete(kit.Pod("a", "1")))
		other.Set("20")
		other.Expire()
		synctest.Wait()
		require.Equal(t, 3, i.Status().Totals.Lists)
		s.Send(watch.Deleted, kit.Pod("a", "21"))
		synctest.Wait()
		require.Equal(t, []string{"delete a@21"}, j.take())
	})
}
