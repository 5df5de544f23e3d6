package informer_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// If a program fills the store by hand before the first full state, no handler gets events about these objects. Each
// handler gets the first full state.
func TestContract_T19_AStoreFilledByHandBeforeTheFirstList(t *testing.T) {
	for _, delivery := range []informer.Delivery{informer.Every, informer.Latest} {
		synctest.Test(t, func(t *testing.T) {
			i, j := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("both", "5"), kit.Pod("listed", "6"))), informer.Options[*corev1.Pod]{Observe: rig.Observed}), &rig.Journal{}
			reg, err := i.Handle(j, informer.HandlerOptions{Delivery: delivery})
			require.NoError(t, err)
			r, _ := addRecorder(t, i.Shared())
			x := i.Shared().GetIndexer()
			require.NoError(t, x.Add(kit.Pod("both", "1")))
			require.NoError(t, x.Add(kit.Pod("only", "2")))
			require.Equal(t, 2, i.Indexer().Len())
			rig.Starts(t, i)
			synctest.Wait()
			require.ElementsMatch(t, []string{"initial both@5", "initial listed@6"}, j.Take())
			require.ElementsMatch(t, []string{"initial both@5", "initial listed@6"}, r.Take())
			require.True(t, kit.Closed(reg.Synced()))
			require.Equal(t, 2, i.Indexer().Len())
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
				s := rig.NewScript("60", kit.Pod("a", "5"))
				s.Fail(rig.ErrPoison)
				i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
				require.NoError(t, write(i.Shared().GetIndexer()))
				require.Equal(t, "100", i.Shared().GetIndexer().LastStoreSyncResourceVersion(), "B39")
				require.Empty(t, i.Shared().LastSyncResourceVersion(), "D6")
				require.Empty(t, i.Indexer().Version())
				rig.Starts(t, i)
				waited := make(chan error, 1)
				go func() { waited <- i.WaitDelivered(t.Context(), "50") }()
				synctest.Wait()
				rig.Pends(t, waited)
				s.Fail(nil)
				require.NoError(t, <-waited)
				require.Equal(t, "60", i.Indexer().Version())
				require.Equal(t, "60", i.Shared().GetIndexer().LastStoreSyncResourceVersion())
				require.Equal(t, 1, i.Indexer().Len())
			})
		})
	}
}

// A delete that the watch brings is delivered whether the object is stored or not (B7): after it was removed by hand
// once, with the final state, to the handlers of both APIs.
func TestContract_B7_T19_TheDeleteOfAnObjectRemovedByHand(t *testing.T) {
	removals := map[string]func(x cache.Indexer, p *corev1.Pod) error{
		"delete":  func(x cache.Indexer, p *corev1.Pod) error { return x.Delete(p) },
		"replace": func(x cache.Indexer, _ *corev1.Pod) error { return x.Replace(nil, "") },
	}
	for name, remove := range removals {
		for _, o := range []informer.Options[*corev1.Pod]{{}, rig.PackedCold()} {
			for _, delivery := range []informer.Delivery{informer.Every, informer.Latest} {
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o.Transform, o.Observe = rig.FailByLabel, rig.Observed
						s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
						i, j, keys := informer.New(rig.SourceOf(s), o), &rig.Journal{}, &rig.KeyJournal{}
						_, err := i.Handle(j, informer.HandlerOptions{Delivery: delivery})
						require.NoError(t, err)
						_, err = i.HandleKeys(keys.Handle, informer.HandlerOptions{Delivery: delivery})
						require.NoError(t, err)
						r, _ := addRecorder(t, i.Shared())
						rig.Starts(t, i)
						require.Len(t, j.Take(), 2)
						require.Len(t, keys.Take(), 2)
						r.Take()
						for _, p := range []*corev1.Pod{kit.Pod("a", "1"), kit.Pod("b", "2")} {
							require.NoError(t, remove(i.Shared().GetIndexer(), p))
						}
						require.Zero(t, i.Indexer().Len())
						require.Empty(t, j.Take())
						s.Send(watch.Deleted, kit.Pod("a", "11"))
						s.Send(watch.Deleted, kit.Pod("b", "12", rig.Sick))
						synctest.Wait()
						require.Equal(t, []string{"delete a@11"}, j.Take(), "nothing is left of b")
						require.Equal(t, []string{"delete a@11"}, r.Take())
						require.Equal(t, []string{"a"}, keys.Take())
					})
				})
			}
		}
	}
}

// A full state brings back what was removed by hand.
func TestContract_T19_ObjectsRemovedByHandComeBackWithTheNextList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{})
		require.Len(t, j.Take(), 2)
		for _, name := range []string{"a", "b"} {
			require.NoError(t, i.Shared().GetIndexer().Delete(kit.Pod(name, "1")))
		}
		s.Set("20", kit.Pod("a", "1"))
		s.Expire()
		synctest.Wait()
		require.Equal(t, []string{"add a@1"}, j.Take())
	})
}

// With several sources the delete may be late (D27), so no handler gets it.
func TestContract_D27_T19_TheDeleteOfAnObjectRemovedByHandFromOneOfTwoSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := rig.NewScript("10", kit.Pod("a", "1")), rig.NewScript("10")
		i, j := informer.Join([]reflector.Source{rig.SourceOf(s), rig.SourceOf(other)}, informer.Options[*corev1.Pod]{Observe: rig.Observed}), &rig.Journal{}
		handles(t, i, j)
		rig.Start(t, i)
		synctest.Wait()
		require.Equal(t, []string{"initial a@1"}, j.Take())
		require.NoError(t, i.Shared().GetIndexer().Delete(kit.Pod("a", "1")))
		other.Set("20")
		other.Expire()
		synctest.Wait()
		require.Equal(t, 3, i.Status().Totals.Lists)
		s.Send(watch.Deleted, kit.Pod("a", "21"))
		synctest.Wait()
		require.Empty(t, j.Take())
		require.Zero(t, i.Indexer().Len())
	})
}
