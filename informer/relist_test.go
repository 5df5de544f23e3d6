package informer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

func TestContract_D14_ARelistDeliversOnlyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{})
		require.Len(t, j.Take(), 2)
		a := rig.Stored(t, i, "a")
		s.Set("20", kit.Pod("a", "1", kit.Label("twin", "yes")), kit.Pod("b", "2", kit.UID("another")))
		s.Expire()
		require.Equal(t, []string{"lost b@2", "add b@2"}, j.Take(), "B74 is gone; another UID is another object")
		require.Same(t, a, rig.Stored(t, i, "a"), "the stored pointer stays")
		require.Equal(t, "20", i.Indexer().Version())
		require.Equal(t, 1, i.Status().Relists)
	})
}

func TestContract_D14_WithoutAListVersionEverythingCountsAsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("", kit.Pod("a", "1"))
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{})
		require.Len(t, j.Take(), 1)
		s.Set("", kit.Pod("a", "1", kit.Label("changed", "yes")))
		s.Expire()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"update a@1 a@1"}, j.Take())
		require.Equal(t, "yes", rig.Stored(t, i, "a").Labels["changed"])
		s.Send(watch.Modified, kit.Pod("b", "9")) // the version of an event is not that of a list
		s.Set("", kit.Pod("a", "1", kit.Label("changed", "again")), kit.Pod("b", "9"))
		s.Expire()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"add b@9", "update a@1 a@1", "update b@9 b@9"}, j.Take())
		require.Equal(t, "again", rig.Stored(t, i, "a").Labels["changed"])
	})
}

func TestContract_D14_WithoutVersionsOfTheirOwnObjectsCountAsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", ""))
		_, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{})
		require.Len(t, j.Take(), 1)
		s.Set("20", kit.Pod("a", ""))
		s.Expire()
		require.Equal(t, []string{"update a@ a@"}, j.Take())
	})
}

// T8: a watch event is stored and delivered whatever its version, because fake clientsets never
// change a resourceVersion.
func TestContract_T8_AWatchEventIsAlwaysStoredAndDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{})
		j.Take()
		for _, version := range []string{"1", "1", "", "0"} {
			p := kit.Pod("a", version)
			s.Send(watch.Modified, p)
			require.Len(t, j.Take(), 1)
			require.Same(t, p, rig.Stored(t, i, "a"))
		}
	})
}

// T9: a relist delivers deletes first and then the other changes in the order of the list, after
// the store shows them all.
func TestContract_T9_TheStoreIsReplacedBeforeDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		j := &rig.Journal{}
		relisted := false
		_, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			j.Handle(c)
			if relisted {
				require.Equal(t, 3, i.Indexer().Len())
				require.Equal(t, "20", i.Indexer().Snapshot().Version())
			}
		}), informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		j.Take()
		relisted = true
		s.Set("20", kit.Pod("z", "15"), kit.Pod("c", "16"), kit.Pod("y", "17"))
		s.Expire()
		lines := j.Take()
		require.ElementsMatch(t, []string{"lost a@1", "lost b@2"}, lines[:2])
		require.Equal(t, []string{"add z@15", "update c@3 c@16", "add y@17"}, lines[2:])
	})
}

// D13: the transform runs once for each object received, with no lock held.
func TestContract_D13_TheTransformRunsOnceAndUnderNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		calls := 0
		var i *informer.Informer[*corev1.Pod]
		i = informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			calls++
			for range i.Indexer().All() { // with the calls below, takes every lock
				continue
			}
			i.Status()
			return p, i.AddIndexes()
		}})
		rig.Start(t, i)
		require.Equal(t, 2, calls)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		s.Send(watch.Deleted, kit.Pod("b", "12"))
		synctest.Wait()
		require.Equal(t, 4, calls)
		s.Expire()
		synctest.Wait()
		require.Equal(t, 6, calls)
		require.Equal(t, 2, i.Status().Objects)
	})
}

// D13: the transform also runs for listed objects that the store already holds.
func TestContract_D13_TheTransformSeesWhatDidNotChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, calls := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), 0
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			calls++
			return p, nil
		}})
		j.Take()
		a := rig.Stored(t, i, "a")
		s.Set("20", kit.Pod("a", "1"), kit.Pod("b", "12"))
		s.Expire()
		require.Equal(t, []string{"update b@2 b@12"}, j.Take())
		require.Equal(t, 4, calls)
		require.Same(t, a, rig.Stored(t, i, "a"))
	})
}

func TestContract_D7_ATransformThatClearsIdentitiesBlindsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			p.ResourceVersion, p.UID = "", ""
			return p, nil
		}})
		require.Len(t, j.Take(), 2)
		a := rig.Stored(t, i, "a")
		s.Send(watch.Modified, kit.Pod("b", "11"))
		require.Len(t, j.Take(), 1)
		require.Equal(t, "11", i.Indexer().Version(), "the version of before the transform")
		s.Set("20", kit.Pod("a", "1"), kit.Pod("b", "11", kit.UID("another")))
		s.Expire()
		require.Equal(t, []string{"lost b@", "add b@"}, j.Take(), "a did not change, b is another")
		require.Same(t, a, rig.Stored(t, i, "a"))
		s.Send(watch.Deleted, kit.Pod("a", "21"))
		s.Send(watch.Added, kit.Pod("a", "22"))
		require.Equal(t, []string{"delete a@", "add a@"}, j.Take())
	})
}

// pager is a source whose lists fail on the second page.
type pager struct{ rig.Script }

func (p *pager) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue != "" {
		return nil, context.DeadlineExceeded
	}
	list, err := p.Script.List(ctx, o)
	if err == nil {
		list.(*corev1.PodList).Continue = "more"
	}
	return list, err
}

func TestPagesOfAListThatFailsConfirmNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{}
		p.Set("10", kit.Pod("a", "1"))
		i, _ := rig.StartWithJournal(t, p, informer.Options[*corev1.Pod]{})
		time.Sleep(time.Hour)
		require.False(t, i.Status().Synced)
		require.Zero(t, i.Status().Confirmed, "the store was never up to date")
		require.Zero(t, i.Status().LastEvent)
	})
}

// A big replacement is built aside and swapped in: handlers and readers see all of it or nothing.
func TestABigRelistShowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		s := rig.NewScript("10")
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		early := 0
		_, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			early++
			require.Equal(t, n, i.Indexer().Len(), "all objects are stored before the first change is delivered")
			require.False(t, c.Initial)
		}), informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		pods := make([]*corev1.Pod, n)
		for k := range pods {
			pods[k] = kit.Pod(fmt.Sprint("p", k), fmt.Sprint(11+k))
		}
		s.Set("9000", pods...)
		s.Expire()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, n, early)
		require.Equal(t, "9000", i.Indexer().Version())
	})
}
