package engine_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// lockChecker decodes pods, and counts those decoded while a lock of the store is held. In that case another
// goroutine cannot write.
type lockChecker struct {
	podDecoder
	core           *engine.Core
	patience       time.Duration
	decoded, under atomic.Int64
	writers        sync.WaitGroup
}

func (c *lockChecker) Decode(data []byte, f pack.Form) (any, error) {
	if c.core != nil {
		written := make(chan struct{})
		c.writers.Go(func() {
			defer close(written)
			tx := c.core.Writer().Begin()
			tx.Commit()
		})
		select {
		case <-written:
		case <-time.After(c.patience):
			c.under.Add(1)
		}
		c.decoded.Add(1)
	}
	return c.podDecoder.Decode(data, f)
}

// Objects are decoded under a lock of the store only for index functions that read them.
func TestObjectsAreNotDecodedUnderALock(t *testing.T) {
	unverified(t)
	play := func(t *testing.T, pods int, o informer.Options[*corev1.Pod], patience time.Duration) *lockChecker {
		c := &lockChecker{patience: patience}
		t.Cleanup(c.writers.Wait)
		f := newTestCoreOf(t, o, 1, c)
		all := make([]*corev1.Pod, pods)
		for i := range all {
			all[i] = kit.Pod(fmt.Sprint("p", i), fmt.Sprint(i+1), kit.Label("app", fmt.Sprint(i%3)))
		}
		f.list("100", all...)
		c.core = f.Core
		f.start()
		every := f.register(informer.Funcs[*corev1.Pod]{Updated: func(_, _ *corev1.Pod) {}}, informer.HandlerOptions{})
		latest := f.register(informer.Funcs[*corev1.Pod]{Updated: func(_, _ *corev1.Pod) {}}, informer.HandlerOptions{Delivery: informer.Latest})
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("p1", "101", kit.Label("app", "1"))), deltaOf(deltafifo.Deleted, kit.Pod("p2", "102")))
		f.settled(every, latest)

		x := podsIn(f.Core)
		_, ok := x.Get(rig.Named("p1"))
		require.True(t, ok)
		require.Len(t, x.Snapshot().List(), pods-1)
		for range 4 { // the third one builds an index
			require.NotEmpty(t, x.Select("", labels.SelectorFromSet(labels.Set{"app": "1"})))
		}
		found, err := x.Find(indexer.Query{Namespace: "default", Labels: labels.SelectorFromSet(labels.Set{"app": "0"})})
		require.NoError(t, err)
		require.NotEmpty(t, found.List())
		either, err := x.Find(indexer.Query{Namespace: "default"}, indexer.Query{Namespace: "other"})
		require.NoError(t, err)
		require.Len(t, either.List(), pods-1)
		require.Len(t, f.store().List(), pods-1)
		require.NoError(t, f.store().Update(kit.Pod("p1", "103")))
		_ = f.Status()

		all[0] = kit.Pod("p0", "110")
		f.list("120", all...)
		f.settled(every, latest)
		return c
	}
	c := play(t, 300, rig.PackedCold(), time.Minute)
	require.Positive(t, c.decoded.Load())
	require.Zero(t, c.under.Load())

	indexed := rig.PackedCold()
	indexed.Indexes = []indexer.Index[*corev1.Pod]{byApp}
	require.Positive(t, play(t, 3, indexed, 50*time.Millisecond).under.Load(), "an index function reads objects under the lock")
}
