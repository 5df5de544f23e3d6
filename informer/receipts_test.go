package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// D19: an answer of the server confirms the store once it is applied. While an index function is stuck,
// the store is as old as it is, whatever arrives.
func TestContract_D19_WhatIsNotAppliedConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := rig.NewScript("10", kit.Pod("a", "1")), make(chan struct{})
		stuck := indexer.Index[*corev1.Pod]{Name: "stuck", Append: func(values []string, p *corev1.Pod) []string {
			if p.Labels["stuck"] != "" {
				<-gate
			}
			return values
		}}
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed, Indexes: []indexer.Index[*corev1.Pod]{stuck}})
		rig.Start(t, i)
		synctest.Wait()
		confirmed := time.Now()
		require.Equal(t, confirmed, i.Status().Confirmed)
		time.Sleep(time.Second)
		s.Send(watch.Added, kit.Pod("b", "11", kit.Label("stuck", "yes")))
		for n := range 10 {
			time.Sleep(time.Minute)
			s.Send(watch.Modified, kit.Pod("a", "1"+string(rune('2'+n))))
			s.Send(watch.Bookmark, kit.Bookmark("30", ""))
			synctest.Wait()
		}
		st := i.Status()
		require.Equal(t, confirmed, st.Confirmed)
		require.Equal(t, 10*time.Minute+time.Second, st.Staleness)
		require.True(t, st.Stale)
		require.Equal(t, time.Now(), st.LastEvent, "it did arrive")
		close(gate)
		synctest.Wait()
		st = i.Status()
		require.Equal(t, time.Now(), st.Confirmed)
		require.False(t, st.Stale)
	})
}

// D19: neither does a full state that waits in the queue.
func TestContract_D19_AQueuedFullStateConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := rig.NewScript("10", kit.Pod("a", "1")), make(chan struct{})
		// With a transform no stored object is looked up for the full state, which would wait for the store.
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed, Transform: rig.FailByLabel, Indexes: []indexer.Index[*corev1.Pod]{{
			Name: "stuck", Append: func(values []string, p *corev1.Pod) []string {
				if p.Labels["stuck"] != "" {
					<-gate
				}
				return values
			},
		}}})
		rig.Start(t, i)
		synctest.Wait()
		confirmed := time.Now()
		time.Sleep(time.Second)
		s.Send(watch.Added, kit.Pod("b", "11", kit.Label("stuck", "yes")))
		synctest.Wait()
		lists := i.Status().Totals.Lists
		s.Set("20", kit.Pod("a", "1"))
		s.Expire()
		time.Sleep(time.Minute)
		st := i.Status()
		require.Greater(t, st.Totals.Lists, lists, "the full state has come")
		require.Equal(t, confirmed, st.Confirmed)
		close(gate)
		synctest.Wait()
		require.True(t, i.Status().Confirmed.After(confirmed))
		require.Equal(t, []string{"default/a"}, rig.Spell(i.Indexer().Keys()))
	})
}
