package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

func TestQuarantinedListsTheObjectsAndReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
		f.start()
		i, begun := f.Inspector(), time.Now()
		f.take(t, deltafifo.Begin)
		f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", rig.Sick)), deltaOf(deltafifo.Added, kit.Pod("b", "1")))
		f.take(t, deltafifo.Commit)
		pass(time.Minute)
		f.write(t, deltaOf(deltafifo.Modified, kit.Pod("a", "2", kit.Label("poison", "panic"))), deltaOf(deltafifo.Modified, kit.Pod("b", "3", rig.Sick)))
		bad := i.Quarantined()
		require.Len(t, bad, 2)
		require.Equal(t, rig.Named("a"), bad[0].Key)
		require.Equal(t, begun, bad[0].Since, "it has been so since")
		require.ErrorIs(t, bad[0].Err, informer.ErrTransform)
		require.ErrorContains(t, bad[0].Err, "panic", "the last one")
		require.Equal(t, rig.Named("b"), bad[1].Key)
		require.Equal(t, begun.Add(time.Minute), bad[1].Since)
		require.ErrorIs(t, bad[1].Err, rig.ErrPoison)

		f.write(t, deltaOf(deltafifo.Modified, kit.Pod("a", "4")))
		require.Len(t, i.Quarantined(), 1)
		f.take(t, deltafifo.Begin)
		f.write(t, deltaOf(deltafifo.Added, kit.Pod("b", "3", rig.Sick)))
		require.Equal(t, bad[1].Since, i.Quarantined()[0].Since)
		f.take(t, deltafifo.Commit)
		require.Equal(t, bad[1].Since, i.Quarantined()[0].Since, "also through a full state")
		f.write(t, deltaOf(deltafifo.Deleted, kit.Pod("b", "5")))
		require.Empty(t, i.Quarantined())
	})
}

// An object that fails while a full state arrives, and comes again in it, is not quarantined.
func TestQuarantinedForgetsWhatAStreamRepaired(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
	f.take(t, deltafifo.Begin)
	f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", rig.Sick)))
	require.Len(t, f.Inspector().Quarantined(), 1)
	f.write(t, deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
	require.Empty(t, f.Inspector().Quarantined())
	f.take(t, deltafifo.Commit)
	require.Empty(t, f.Inspector().Quarantined())
	require.Zero(t, f.Status().Quarantined)
}

func TestQuarantinedGivesTheDecodingError(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	f.list("1")
	bad := deltaOf(deltafifo.Poisoned, kit.Pod("a", "2"))
	bad.Object = rig.ErrPoison
	f.write(t, bad)
	found := f.Inspector().Quarantined()
	require.Len(t, found, 1)
	require.ErrorIs(t, found[0].Err, informer.ErrDecode)
	require.ErrorIs(t, found[0].Err, rig.ErrPoison)
}

func TestQuarantinedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
		f.start()
		f.list("1")
		for n := range 2 * engine.MaxQuarantined {
			f.write(t, deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint("pod-", n), "1", rig.Sick)))
		}
		require.Len(t, f.Inspector().Quarantined(), engine.MaxQuarantined)
		require.Equal(t, 2*engine.MaxQuarantined, f.Status().Quarantined)

		// An object that fails again is shown once there is room.
		f.write(t, deltaOf(deltafifo.Modified, kit.Pod("pod-0", "2")))
		last := kit.Pod(fmt.Sprint("pod-", 2*engine.MaxQuarantined-1), "2", rig.Sick)
		f.write(t, deltaOf(deltafifo.Modified, last))
		shown := f.Inspector().Quarantined()
		require.Len(t, shown, engine.MaxQuarantined)
		require.True(t, slices.ContainsFunc(shown, func(o informer.QuarantinedObject) bool { return o.Key.Name == last.Name }))

		for n := range 2 * engine.MaxQuarantined {
			f.write(t, deltaOf(deltafifo.Modified, kit.Pod(fmt.Sprint("pod-", n), "2")))
		}
		require.Empty(t, f.Inspector().Quarantined())
		require.Zero(t, f.Status().Quarantined)
	})
}
