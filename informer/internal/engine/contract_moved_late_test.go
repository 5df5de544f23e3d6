package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// synced makes both sources list nothing at the version 1.
func (j *joined) synced() {
	for source := range j.in {
		j.beginReplace(source, reflector.SameHistory)
		j.commitReplace(source, "1")
	}
}

// D27, T19: a replacement keeps what a user has written over an object that fails now. Another source may put
// the object meanwhile, whatever version the user has given it.
func TestContract_D27_WhatAFailureKeepsGivesWay(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 2)
	j.synced()
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5")))
	require.NoError(t, j.store().Update(kit.Pod("p", "77")))
	j.beginReplace(0, reflector.SameHistory)
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "7", rig.Sick)))
	j.says(1, '+', "9")
	j.commitReplace(0, "8")
	require.Equal(t, "b@9", j.holds())
	j.says(0, '-', "9")
	require.Equal(t, "b@9", j.holds())
	require.Zero(t, j.Status().Quarantined)
}

// D3, T19: a full state keeps the last good version of an object that fails, and nothing that was put by hand.
func TestContract_T19_AFailureKeepsNothingPutByHand(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
	j.synced()
	require.NoError(t, j.store().Update(kit.Pod("p", "77")))
	j.beginReplace(0, reflector.SameHistory)
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "7", rig.Sick)))
	j.commitReplace(0, "8")
	require.Empty(t, j.holds())
	require.Equal(t, 1, j.Status().Quarantined)
}

// D3, D23: if the server's history has gone back, an object that fails is kept in a version of the history before,
// which does not win over what another source reports.
func TestContract_D23_AVersionOfTheHistoryBeforeGivesWay(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 2)
	j.synced()
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "95")))
	for source := range 2 {
		j.beginReplace(source, reflector.NewHistory)
		if source == 0 {
			j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "78", rig.Sick)))
		}
		j.commitReplace(source, "84")
	}
	require.Equal(t, "a@95", j.holds())
	require.Equal(t, 1, j.Status().Quarantined)
	j.says(1, '+', "86")
	j.says(0, '-', "86")
	require.Equal(t, "b@86", j.holds())
}

// D23: an object moves from a source that has not listed anew to one that has. It is missing until it changes.
func TestContract_D23_AMoveBetweenTwoHistories(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{}, 2)
	j.synced()
	j.says(0, '+', "95")
	j.beginReplace(1, reflector.NewHistory)
	j.commitReplace(1, "84")
	j.says(1, '+', "86")
	j.beginReplace(0, reflector.NewHistory)
	j.commitReplace(0, "87")
	require.Empty(t, j.holds())
	j.says(1, '+', "88")
	require.Equal(t, "b@88", j.holds())
}

// D3, D23, D33: the last good version stays, and handlers get no delete of an object that exists. WaitFor does not take
// that version for a later one.
func TestContract_D23_TheLastGoodVersionIsKept(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
	j.synced()
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "95")))
	j.beginReplace(0, reflector.NewHistory)
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "78", rig.Sick)))
	j.commitReplace(0, "84")
	require.Equal(t, "a@95", j.holds())
	require.Equal(t, 1, j.Status().Quarantined)
	require.ErrorIs(t, j.WaitFor(t.Context(), kit.Pod("p", "78")), informer.ErrQuarantined)
}

// D23: nothing is left of the last good version when a later one can be decoded, in the same list or afterwards.
func TestContract_D23_ALaterVersionReplacesTheLastGoodOne(t *testing.T) {
	for _, inTheList := range []bool{true, false} {
		j := newJoined(t, informer.Options[*corev1.Pod]{}, 1)
		j.synced()
		j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "95")))
		failed := deltaOf(deltafifo.Poisoned, kit.Pod("p", "78"))
		failed.Object = errors.New("undecodable")
		j.beginReplace(0, reflector.NewHistory)
		j.tell(0, failed)
		if inTheList {
			j.says(0, '+', "86")
		}
		j.commitReplace(0, "87")
		if !inTheList {
			require.Equal(t, "a@95", j.holds())
			require.Equal(t, 1, j.Identities())
			j.says(0, '+', "88")
		}
		require.Zero(t, j.Status().Quarantined)
		require.Zero(t, j.Identities())
	}
}

// D1, D7: the transform renames the final state of a re-created object, while its predecessor is stored
// still. The delete is that of the predecessor. If the predecessor comes back from another source, and is
// deleted, a lagging handler gets its final state.
func TestContract_D1_ADeleteThatIsRenamedIsThatOfTheStoredObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, h := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.Rename}, 2), rig.NewGated()
		j.register(h, informer.HandlerOptions{Delivery: informer.Latest})
		j.start()
		defer h.Open()
		j.synced()
		j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5", kit.UID("one"))), deltaOf(deltafifo.Added, kit.Pod("q", "6")))
		synctest.Wait()
		h.Pass()
		require.Equal(t, []string{"add p@5", "add q@6"}, h.Take(), "and it is stuck in the second")
		j.tell(0, deltaOf(deltafifo.Deleted, kit.Pod("p", "9", kit.UID("two"), rig.AsX)))
		j.tell(1, deltaOf(deltafifo.Added, kit.Pod("p", "7", kit.UID("one"))), deltaOf(deltafifo.Deleted, kit.Pod("p", "8", kit.UID("one"))))
		h.Pass()
		require.Equal(t, []string{"delete p@8"}, h.Take())
	})
}
