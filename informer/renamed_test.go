package informer

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// rename is a transform that names a pod after its label, if it has one, and fails like failByLabel.
func rename(p *corev1.Pod) (*corev1.Pod, error) {
	if p, err := failByLabel(p); p == nil || err != nil {
		return p, err
	}
	if name := p.Labels["name"]; name != "" {
		p.Name = name
	}
	return p, nil
}

var (
	asX  = kit.Label("name", "x")
	asY  = kit.Label("name", "y")
	sick = kit.Label("poison", "error")
)

// D3, D7: an object that the transform has renamed keeps its last good version if the transform fails on
// it later.
func TestContract_D3_ARenamedObjectStaysWhereItsNextVersionFails(t *testing.T) {
	for name, then := range map[string]func(s *script){
		"watched": func(s *script) { s.Send(watch.Modified, kit.Pod("a", "11", sick)) },
		"listed": func(s *script) {
			s.Set("20", kit.Pod("a", "11", sick))
			s.Expire()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScript("10", kit.Pod("a", "1", asX))
				i, j := New(s, Options[*corev1.Pod]{Transform: rename, Observe: observed}), &journal{}
				j.mustHandle(t, i)
				starts(t, i)
				require.Equal(t, []string{"initial x@1"}, j.take())
				then(s)
				require.Empty(t, j.take())
				require.Equal(t, 1, i.Status().Quarantined)
				require.Equal(t, "1", stored(t, i, "x").ResourceVersion)
				s.Send(watch.Modified, kit.Pod("a", "21", asX))
				require.Equal(t, []string{"update x@1 x@21"}, j.take())
				require.Zero(t, i.Status().Quarantined)
				s.Send(watch.Deleted, kit.Pod("a", "22", sick))
				require.Equal(t, []string{"lost x@21"}, j.take())
			})
		})
	}
}

// D3: an object that has failed under the server's name ends its quarantine when it succeeds, under
// whatever name.
func TestContract_D3_AnObjectThatRecoversUnderAnotherNameIsNotQuarantined(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1", sick))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: rename})
		require.Equal(t, 1, i.Status().Quarantined)
		require.Equal(t, named("a"), i.Inspector().Quarantined()[0].Key)
		s.Send(watch.Modified, kit.Pod("a", "11", asX))
		require.Equal(t, []string{"add x@11"}, j.take())
		require.Zero(t, i.Status().Quarantined)
		require.Empty(t, i.Inspector().Quarantined())
	})
}

// D7: if the transform gives an object another key than before, the object is deleted under the earlier
// one, with the last known state.
func TestContract_D7_AnObjectIsStoredUnderOneKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: rename})
		j.take()
		s.Send(watch.Modified, kit.Pod("a", "11", asX))
		require.Equal(t, []string{"lost a@1", "add x@11"}, j.take())
		s.Send(watch.Modified, kit.Pod("a", "12", asY))
		require.Equal(t, []string{"lost x@11", "add y@12"}, j.take())
		s.Send(watch.Modified, kit.Pod("a", "13"))
		require.Equal(t, []string{"lost y@12", "add a@13"}, j.take(), "the renaming is undone")
		s.Send(watch.Modified, kit.Pod("a", "14", asX))
		require.Equal(t, []string{"lost a@13", "add x@14"}, j.take())
		s.Send(watch.Deleted, kit.Pod("a", "15"))
		require.Equal(t, []string{"lost x@14"}, j.take(), "the final state has another name")
		s.Send(watch.Deleted, kit.Pod("b", "16"))
		require.Equal(t, []string{"delete b@16"}, j.take())
		require.Zero(t, i.Indexer().Len())
	})
}

// D7: that delete comes also if a user has deleted the object by hand: the handlers still know it.
func TestContract_D7_AnObjectDeletedByHandIsToldUnderItsEarlierKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1", asX), kit.Pod("b", "2", asY))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: rename})
		j.take()
		for _, name := range []string{"x", "y"} {
			require.NoError(t, i.Shared().GetStore().Delete(stored(t, i, name)))
		}
		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"lost x@1", "add a@11"}, j.take())
		s.Send(watch.Deleted, kit.Pod("b", "12"))
		require.Equal(t, []string{"lost y@2"}, j.take())
	})
}

// D7: a user's write over an object does not stay under the earlier key either, not even if the object
// had failed since.
func TestContract_D7_AWriteByHandDoesNotKeepTheEarlierKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1", asX), kit.Pod("b", "2"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: rename})
		j.take()
		for _, name := range []string{"x", "b"} {
			p := stored(t, i, name).DeepCopy()
			p.Labels = kit.Pod(name, "1", kit.Label("hand", "yes")).Labels
			require.NoError(t, i.Shared().GetStore().Update(p))
		}
		s.Set("20", kit.Pod("a", "11", sick), kit.Pod("b", "12", sick))
		s.Expire()
		require.Empty(t, j.take())
		s.Send(watch.Modified, kit.Pod("a", "21"))
		require.Equal(t, []string{"lost x@1", "add a@21"}, j.take())
		s.Send(watch.Modified, kit.Pod("b", "22", asY))
		require.Equal(t, []string{"lost b@2", "add y@22"}, j.take())
		require.Equal(t, 2, i.Indexer().Len())
	})
}

// D7: of two objects that the transform gives the same key, the store has the one put last. It stays if
// the other one gets another key.
func TestContract_D7_TheObjectPutLastHasTheKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1", asX), kit.Pod("x", "2"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: rename})
		j.take()
		require.Equal(t, "2", stored(t, i, "x").ResourceVersion)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"add a@11"}, j.take())
		s.Send(watch.Deleted, kit.Pod("x", "12"))
		require.Equal(t, []string{"delete x@12"}, j.take())
	})
}

// A stream of the initial state may bring several versions of an object, with other keys.
func TestAStreamThatRenames(t *testing.T) {
	for name, test := range map[string]struct {
		stream []deltafifo.Delta
		want   string // the one object
	}{
		"twice":                {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", asY))}, "y@11"},
		"undone":               {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11"))}, "a@11"},
		"failed":               {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", sick))}, "x@10"},
		"undone, then failed":  {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11")), deltaOf(deltafifo.Modified, kit.Pod("a", "12", sick))}, "a@11"},
		"undone, then deleted": {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11")), deltaOf(deltafifo.Deleted, kit.Pod("a", "12", asX))}, ""},
	} {
		for _, earlier := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f := newTestCore(t, Options[*corev1.Pod]{Transform: rename}, 1)
				if earlier {
					f.take(t, deltafifo.Begin)
					f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", asX)))
					f.take(t, deltafifo.Commit)
				}
				f.take(t, deltafifo.Begin)
				f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "10", asX)))
				for _, d := range test.stream {
					f.write(t, copied(d))
				}
				f.take(t, deltafifo.Commit)
				got := ""
				for p := range podsIn(f.core).All() {
					got += kit.Text(p)
				}
				if name == "failed" && earlier {
					test.want = "x@1" // the earlier version of the store
				}
				require.Equal(t, test.want, got)
			})
		}
	}
}

// copied returns a delta with a copy of its pod, since a transform changes it in place.
func copied(d deltafifo.Delta) deltafifo.Delta {
	d.Object = d.Object.(*corev1.Pod).DeepCopy()
	return d
}
