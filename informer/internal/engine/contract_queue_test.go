package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// B13: changes are applied in the order in which they were queued, and equal ones are not merged. B17,
// B20: a full state, also the first, is applied after the changes queued before it. B21: it deletes
// what it lacks.
func TestContract_B13_B17_B20_B21_ChangesAndFullStatesInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, j := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &rig.Journal{}
		f.register(j, informer.HandlerOptions{})
		f.start()
		f.apply(deltaOf(deltafifo.Added, kit.Pod("early", "1")))
		require.Equal(t, 1, podsIn(f.Core).Len())
		f.list("5", kit.Pod("a", "2"))
		require.Equal(t, []string{"initial a@2"}, j.Take())
		require.Equal(t, 1, podsIn(f.Core).Len())
		f.apply(
			deltaOf(deltafifo.Modified, kit.Pod("a", "6")),
			deltaOf(deltafifo.Modified, kit.Pod("a", "6")),
			deltaOf(deltafifo.Deleted, kit.Pod("a", "7")),
			deltaOf(deltafifo.Added, kit.Pod("a", "8")),
			deltafifo.Delta{Op: deltafifo.Begin},
			deltaOf(deltafifo.Added, kit.Pod("b", "4")),
			deltafifo.Delta{Op: deltafifo.Commit, Version: "9"},
			deltaOf(deltafifo.Modified, kit.Pod("b", "10")),
		)
		require.Equal(t, []string{
			"update a@2 a@6", "update a@6 a@6", "delete a@7", "add a@8", "lost a@8", "add b@4", "update b@4 b@10",
		}, j.Take())
	})
}

// B14: a write section applies up to 1,000 single changes. What belongs to a full state is applied step
// by step.
func TestContract_B14_TheSizeOfAWriteSection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.start()
		f.list("1")
		batch, _ := adds(2, 2500)
		for _, stored := range []int{1000, 2000, 2500} {
			batch = f.ApplySome(batch)
			require.Equal(t, stored, podsIn(f.Core).Len())
		}
		require.Empty(t, batch)
		batch = []deltafifo.Delta{
			deltaOf(deltafifo.Added, kit.Pod("x", "3000")),
			{Op: deltafifo.Begin},
			deltaOf(deltafifo.Added, kit.Pod("y", "3001")),
			{Op: deltafifo.Commit, Version: "3002"},
			deltaOf(deltafifo.Added, kit.Pod("z", "3003")),
		}
		for _, left := range []int{4, 3, 2, 1, 0} {
			batch = f.ApplySome(batch)
			require.Len(t, batch, left)
		}
		require.Equal(t, 2, podsIn(f.Core).Len())
	})
}

// B15: it does not matter in which batches changes and full states come.
func TestContract_B15_BatchesMakeNoDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []deltafifo.Delta
		add := func(op deltafifo.Op, name, version string) { all = append(all, deltaOf(op, kit.Pod(name, version))) }
		for n := range 100 {
			version := func(more int) string { return fmt.Sprint(10*n + more) }
			add(deltafifo.Added, "a", version(1))
			add(deltafifo.Modified, "b", version(2))
			add(deltafifo.Deleted, "a", version(3))
			if n%10 == 5 {
				all = append(all, deltafifo.Delta{Op: deltafifo.Begin})
				add(deltafifo.Added, "c", version(4))
				add(deltafifo.Added, "a", version(5))
				all = append(all, deltafifo.Delta{Op: deltafifo.Commit, Version: version(6)})
			}
		}
		var want []string
		for _, size := range []int{1, 2, 3, 7, 50, len(all), 0} {
			f, j := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &rig.Journal{}
			f.register(j, informer.HandlerOptions{})
			f.start()
			f.list("0")
			dice := rand.New(rand.NewPCG(1, 2))
			for left := all; len(left) > 0; {
				n := size
				if n == 0 {
					n = 1 + dice.IntN(20)
				}
				n = min(n, len(left))
				f.apply(left[:n]...)
				left = left[n:]
			}
			lines := j.Take()
			if want == nil {
				want = lines
			}
			require.Equal(t, want, lines)
		}
	})
}

// B42: readers do not wait while a large full state is taken into the store.
func TestContract_B42_ReadersDoNotWaitForAFullState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		f := newTestCore(t, informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{{
			Name: "slow", Append: func(values []string, p *corev1.Pod) []string {
				if p.Name == "p900" {
					<-gate
				}
				return values
			},
		}}}, 1)
		f.start()
		f.list("1", kit.Pod("old", "1"))
		all, _ := adds(2, 5000) // fewer are written in one section
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.beginReplace()
			f.apply(all...)
			f.commitReplace("9000")
		}()
		synctest.Wait()
		require.Len(t, podsIn(f.Core).Snapshot().List(), 1)
		require.Len(t, podsIn(f.Core).Keys(), 1)
		require.Equal(t, 1, f.Status().Objects)
		close(gate)
		<-done
		require.Equal(t, 5000, podsIn(f.Core).Len())
	})
}
