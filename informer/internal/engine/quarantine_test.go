package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestAPoisonedObjectThatIsDeletedIsNotQuarantined(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
	f.list("1")
	f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "2", rig.Sick)))
	require.Equal(t, 1, f.Status().Quarantined)
	f.write(t, deltaOf(deltafifo.Deleted, kit.Pod("a", "3", rig.Sick)))
	require.Zero(t, f.Status().Quarantined)
}

// An object on which the transform fails is not quarantined if the same stream of the initial state
// later repairs or deletes it.
func TestAnObjectThatRecoversWithinAStreamIsNotQuarantined(t *testing.T) {
	for _, op := range []deltafifo.Op{deltafifo.Modified, deltafifo.Deleted} {
		f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 1)
		f.take(t, deltafifo.Begin)
		f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", rig.Sick)), deltaOf(op, kit.Pod("a", "2")))
		f.take(t, deltafifo.Commit)
		_, ok := f.Writer().Indexer().Get(rig.Named("a"))
		require.Equal(t, op == deltafifo.Modified, ok)
		require.Zero(t, f.Status().Quarantined)
	}
}

// D3, D30: a list has another object under the name of a stored one, and it fails. The stored object is gone.
func TestContract_D3_AnotherObjectThatFails(t *testing.T) {
	for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){"": rig.FailByLabel, "stripped": strip} {
		t.Run(name, func(t *testing.T) {
			j := newJoined(t, informer.Options[*corev1.Pod]{Transform: transform}, 1)
			j.synced()
			j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5", kit.UID("one"))))
			for _, uid := range []string{"one", "two"} {
				j.beginReplace(0, reflector.SameHistory)
				j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "7", kit.UID(uid), rig.Sick)))
				j.commitReplace(0, "8")
				require.Equal(t, 1, j.Status().Quarantined)
				require.Equal(t, uid == "one", j.Writer().Indexer().Len() == 1)
			}
			require.EqualValues(t, 1, j.Status().Totals.Deleted)
		})
	}
}

// A quarantined object stays quarantined if a replacement is aborted, even if the replacement has
// brought the object again: in a good version, or in a version that fails.
func TestAnAbortedFullStateKeepsTheQuarantine(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	f.list("5")
	poison := func(v string) deltafifo.Delta {
		d := deltaOf(deltafifo.Poisoned, kit.Pod("a", v))
		d.Object = nil
		return d
	}
	f.apply(poison("7"))
	require.ErrorIs(t, f.WaitFor(t.Context(), kit.Pod("a", "7")), informer.ErrQuarantined)
	f.beginReplace()
	f.apply(poison("7"), deltaOf(deltafifo.Modified, kit.Pod("a", "8")), deltafifo.Delta{Op: deltafifo.Abort})
	require.Equal(t, 1, f.Status().Quarantined)
	require.ErrorIs(t, f.WaitFor(t.Context(), kit.Pod("a", "7")), informer.ErrQuarantined)
	f.beginReplace()
	f.apply(poison("7"), poison("8"), deltafifo.Delta{Op: deltafifo.Abort})
	require.ErrorIs(t, f.WaitFor(t.Context(), kit.Pod("a", "7")), informer.ErrQuarantined)
}

// A stream of the initial state may bring several versions of an object, some of them renamed.
func TestAStreamThatRenames(t *testing.T) {
	for name, test := range map[string]struct {
		stream []deltafifo.Delta
		want   string // the one object
	}{
		"renamed":               {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", rig.AsX))}, "a@10"},
		"undone":                {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", rig.AsX)), deltaOf(deltafifo.Modified, kit.Pod("a", "12"))}, "a@12"},
		"failed":                {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", rig.Sick))}, "a@10"},
		"renamed, then deleted": {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", rig.AsX)), deltaOf(deltafifo.Deleted, kit.Pod("a", "12", rig.AsX))}, ""},
	} {
		for _, earlier := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: rig.Rename}, 1)
				if earlier {
					f.take(t, deltafifo.Begin)
					f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1")))
					f.take(t, deltafifo.Commit)
				}
				f.take(t, deltafifo.Begin)
				f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "10")))
				for _, d := range test.stream {
					f.write(t, copied(d))
				}
				f.take(t, deltafifo.Commit)
				got, want := "", test.want
				for p := range podsIn(f.Core).All() {
					got += kit.Text(p)
				}
				if earlier && want == "a@10" {
					want = "a@1" // the version stored before
				}
				require.Equal(t, want, got)
			})
		}
	}
}

// copied returns a delta with a copy of its pod, since a transform changes it in place.
func copied(d deltafifo.Delta) deltafifo.Delta {
	d.Object = d.Object.(*corev1.Pod).DeepCopy()
	return d
}
