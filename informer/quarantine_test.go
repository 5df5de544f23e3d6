package informer

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var errPoison = errors.New("poison")

// failByLabel is a transform that fails on pods with the label poison, in the way that the label
// says.
func failByLabel(p *corev1.Pod) (*corev1.Pod, error) {
	switch p.Labels["poison"] {
	case "error":
		return nil, errPoison
	case "panic":
		panic(errPoison)
	case "exit":
		runtime.Goexit()
	case "nil":
		return nil, nil //nolint:nilnil // as a careless transform does
	}
	return p, nil
}

// events collects the events that an informer reports to Observe.
type events struct{ all chan Event }

func newEvents() *events { return &events{make(chan Event, 1000)} }

func (e *events) observe(ev Event) { e.all <- ev }

// of returns the collected events of one type, and drops all others.
func of[E any](e *events) (found []E) {
	for {
		select {
		case ev := <-e.all:
			if f, ok := ev.(E); ok {
				found = append(found, f)
			}
		default:
			return found
		}
	}
}

func TestContract_D3_APoisonedObjectIsQuarantined(t *testing.T) {
	for _, poison := range []string{"error", "panic", "nil"} {
		t.Run(poison, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { quarantines(t, kit.Label("poison", poison)) })
		})
	}
}

func quarantines(t *testing.T, sick func(*corev1.Pod)) {
	s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", sick))
	seen := newEvents()
	i := New(sourceOf(s), Options[*corev1.Pod]{Transform: failByLabel, Observe: seen.observe})
	j := &journal{}
	_, err := i.Handle(j, HandlerOptions{})
	require.NoError(t, err)
	start(t, i)
	require.NoError(t, i.WaitSynced(t.Context()), "the list syncs")
	require.Equal(t, []string{"initial a@1"}, j.take())
	require.Equal(t, 1, i.Status().Quarantined)
	told := of[*QuarantineError](seen)
	require.Len(t, told, 1)
	require.Equal(t, named("b"), told[0].Key)
	require.ErrorIs(t, told[0], ErrTransform)
	require.ErrorContains(t, told[0], `"default/b"`)

	s.Send(watch.Modified, kit.Pod("b", "11"))
	require.Equal(t, []string{"add b@11"}, j.take(), "tried again with its next event")
	require.Zero(t, i.Status().Quarantined)

	s.Send(watch.Modified, kit.Pod("b", "12", sick))
	require.Empty(t, j.take())
	stale, ok := i.Indexer().Get(named("b"))
	require.True(t, ok)
	require.Equal(t, "11", stale.ResourceVersion, "the old version stays")
	require.Equal(t, 1, i.Status().Quarantined)
	require.Equal(t, "12", i.Indexer().Version())
	require.Len(t, of[*QuarantineError](seen), 1)

	s.Set("20", kit.Pod("b", "12", sick), kit.Pod("c", "13", sick))
	s.Expire()
	require.Equal(t, []string{"lost a@1"}, j.take(), "a relist keeps the old version too")
	require.Equal(t, 2, i.Status().Quarantined)

	s.Set("30", kit.Pod("b", "12"), kit.Pod("c", "13"))
	s.Expire()
	time.Sleep(time.Minute) // the second 410 in a row backs off
	require.Equal(t, []string{"update b@11 b@12", "add c@13"}, j.take(), "tried again with each relist")
	require.Zero(t, i.Status().Quarantined)

	s.Send(watch.Deleted, kit.Pod("b", "31", sick))
	require.Equal(t, []string{"lost b@12"}, j.take(), "a delete is a delete")
	s.Send(watch.Deleted, kit.Pod("x", "32", sick))
	require.Empty(t, j.take(), "of something that was not there")
	require.Zero(t, i.Status().Quarantined)
	require.Equal(t, 1, i.Status().Objects)
}

func TestAPoisonedObjectThatIsDeletedIsNotQuarantined(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{Transform: failByLabel}, 1)
	f.list("1")
	f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "2", kit.Label("poison", "error"))))
	require.Equal(t, 1, f.Status().Quarantined)
	f.write(t, deltaOf(deltafifo.Deleted, kit.Pod("a", "3", kit.Label("poison", "error"))))
	require.Zero(t, f.Status().Quarantined)
}

// An object on which the transform fails is not quarantined if the same stream of the initial state
// later repairs or deletes it.
func TestAnObjectThatRecoversWithinAStreamIsNotQuarantined(t *testing.T) {
	for _, op := range []deltafifo.Op{deltafifo.Modified, deltafifo.Deleted} {
		f := newTestCore(t, Options[*corev1.Pod]{Transform: failByLabel}, 1)
		f.take(t, deltafifo.Begin)
		f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", kit.Label("poison", "error"))), deltaOf(op, kit.Pod("a", "2")))
		f.take(t, deltafifo.Commit)
		_, ok := f.Writer().Indexer().Get(named("a"))
		require.Equal(t, op == deltafifo.Modified, ok)
		require.Zero(t, f.Status().Quarantined)
	}
}

// D4: an index function that panics on an object leaves the object out of that index alone.
func TestContract_D4_AFailingIndexHarmsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		byNode := indexer.Index[*corev1.Pod]{Name: "node", Append: func(values []string, p *corev1.Pod) []string {
			if p.Labels["poison"] != "" {
				panic(errPoison)
			}
			return append(values, p.Spec.NodeName)
		}}
		seen := newEvents()
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("poison", "yes")))
		i := New(sourceOf(s), Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byNode}, Observe: seen.observe})
		j := &journal{}
		_, err := i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		start(t, i)
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, j.take())
		require.Equal(t, 1, i.Status().Unindexed)
		failed := of[*indexer.IndexError](seen)
		require.Len(t, failed, 1)
		require.Equal(t, "node", failed[0].Index)
		require.Equal(t, named("b"), failed[0].Key)
		require.ErrorIs(t, failed[0], errPoison)
		found, err := i.Indexer().Lookup("node", "")
		require.NoError(t, err)
		require.Equal(t, 1, found.Len())
		found, err = i.Indexer().Lookup(indexer.NamespaceIndex, "default")
		require.NoError(t, err)
		require.Equal(t, 2, found.Len(), "in the other index it is")

		s.Send(watch.Modified, kit.Pod("b", "11"))
		require.Equal(t, []string{"update b@2 b@11"}, j.take())
		require.Zero(t, i.Status().Unindexed)
	})
}

// D3, D30: a list has another object under the name of a stored one, and it fails. The stored object is gone.
func TestContract_D3_AnotherObjectThatFails(t *testing.T) {
	for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){"": failByLabel, "stripped": strip} {
		t.Run(name, func(t *testing.T) {
			j := newJoined(t, Options[*corev1.Pod]{Transform: transform}, 1)
			j.synced()
			j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5", kit.UID("one"))))
			for _, uid := range []string{"one", "two"} {
				j.beginReplace(0, reflector.SameHistory)
				j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "7", kit.UID(uid), sick)))
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
func TestAnObjectStaysQuarantinedWhereAFullStateIsGivenUp(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	f.list("5")
	poison := func(v string) deltafifo.Delta {
		d := deltaOf(deltafifo.Poisoned, kit.Pod("a", v))
		d.Object = nil
		return d
	}
	f.apply(poison("7"))
	require.ErrorIs(t, f.WaitFor(t.Context(), kit.Pod("a", "7")), ErrQuarantined)
	f.beginReplace()
	f.apply(poison("7"), deltaOf(deltafifo.Modified, kit.Pod("a", "8")), deltafifo.Delta{Op: deltafifo.Abort})
	require.Equal(t, 1, f.Status().Quarantined)
	require.ErrorIs(t, f.WaitFor(t.Context(), kit.Pod("a", "7")), ErrQuarantined)
	f.beginReplace()
	f.apply(poison("7"), poison("8"), deltafifo.Delta{Op: deltafifo.Abort})
	require.ErrorIs(t, f.WaitFor(t.Context(), kit.Pod("a", "7")), ErrQuarantined)
}
