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
	sick = kit.Label("poison", "error")
)

// D7: an object that the transform renames is quarantined (D3), wherever it comes from. The error has both
// keys, and no object is stored under the other one.
func TestContract_D7_AnObjectThatTheTransformRenamesIsQuarantined(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, seen := newScript("10", kit.Pod("a", "1", asX), kit.Pod("b", "2"), kit.Pod("x", "3")), newEvents()
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: rename, Observe: seen.observe})
		require.ElementsMatch(t, []string{"initial b@2", "initial x@3"}, j.take())
		told := of[*QuarantineError](seen)
		require.Len(t, told, 1)
		require.Equal(t, named("a"), told[0].Key)
		require.ErrorIs(t, told[0], ErrTransform)
		require.ErrorContains(t, told[0], `object "default/a" is quarantined`)
		require.ErrorContains(t, told[0], `it renamed the object to "default/x"`)
		require.Equal(t, named("a"), i.Inspector().Quarantined()[0].Key)

		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"add a@11"}, j.take(), "tried again with its next event")
		require.Zero(t, i.Status().Quarantined)
		s.Send(watch.Modified, kit.Pod("a", "12", asX))
		require.Empty(t, j.take())
		require.Equal(t, "11", stored(t, i, "a").ResourceVersion, "the earlier version stays")
		require.Equal(t, "3", stored(t, i, "x").ResourceVersion)
		s.Set("20", kit.Pod("a", "12", asX), kit.Pod("x", "3"))
		s.Expire()
		require.Equal(t, []string{"lost b@2"}, j.take())
		require.Equal(t, 1, i.Status().Quarantined)
		s.Send(watch.Deleted, kit.Pod("a", "21", asX))
		require.Equal(t, []string{"lost a@11"}, j.take(), "a delete is a delete")
		require.Zero(t, i.Status().Quarantined)
		require.Equal(t, 1, i.Indexer().Len())
	})
}

// D7: so is one that gets another namespace.
func TestContract_D7_TheNamespaceStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i, j := startWithJournal(t, newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			p.Namespace = "elsewhere"
			return p, nil
		}})
		require.Empty(t, j.take())
		require.Equal(t, 1, i.Status().Quarantined)
		require.ErrorContains(t, i.Inspector().Quarantined()[0].Err, "elsewhere/a")
	})
}

// A stream of the initial state may bring several versions of an object, some of them renamed.
func TestAStreamThatRenames(t *testing.T) {
	for name, test := range map[string]struct {
		stream []deltafifo.Delta
		want   string // the one object
	}{
		"renamed":               {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", asX))}, "a@10"},
		"undone":                {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", asX)), deltaOf(deltafifo.Modified, kit.Pod("a", "12"))}, "a@12"},
		"failed":                {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", sick))}, "a@10"},
		"renamed, then deleted": {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11", asX)), deltaOf(deltafifo.Deleted, kit.Pod("a", "12", asX))}, ""},
	} {
		for _, earlier := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f := newTestCore(t, Options[*corev1.Pod]{Transform: rename}, 1)
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
