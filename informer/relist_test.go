package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// startWithJournal starts an informer with a journal as its handler.
func startWithJournal(t *testing.T, s kit.Source, o Options[*corev1.Pod]) (*Informer[*corev1.Pod], *journal) {
	if o.Observe == nil {
		o.Observe = observed
	}
	i, j := New(sourceOf(s), o), &journal{}
	_, err := i.Handle(j, HandlerOptions{})
	require.NoError(t, err)
	start(t, i)
	return i, j
}

func stored(t *testing.T, i *Informer[*corev1.Pod], name string) *corev1.Pod {
	t.Helper()
	p, ok := i.Indexer().Get(named(name))
	require.True(t, ok, name)
	return p
}

func TestContract_D14_ARelistSaysNothingOfWhatDidNotChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{})
		require.Len(t, j.take(), 2)
		a := stored(t, i, "a")
		s.Set("20", kit.Pod("a", "1", kit.Label("twin", "yes")), kit.Pod("b", "2", kit.UID("another")))
		s.Expire()
		require.Equal(t, []string{"lost b@2", "add b@2"}, j.take(), "B74 is gone; another UID is another object")
		require.Same(t, a, stored(t, i, "a"), "the stored pointer stays")
		require.Equal(t, "20", i.Indexer().Version())
		require.Equal(t, 1, i.Status().Relists)
	})
}

func TestContract_D14_WithoutAListVersionEverythingCountsAsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("", kit.Pod("a", "1"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{})
		require.Len(t, j.take(), 1)
		s.Set("", kit.Pod("a", "1", kit.Label("changed", "yes")))
		s.Expire()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"update a@1 a@1"}, j.take())
		require.Equal(t, "yes", stored(t, i, "a").Labels["changed"])
		s.Send(watch.Modified, kit.Pod("b", "9")) // the version of an event is not that of a list
		s.Set("", kit.Pod("a", "1", kit.Label("changed", "again")), kit.Pod("b", "9"))
		s.Expire()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"add b@9", "update a@1 a@1", "update b@9 b@9"}, j.take())
		require.Equal(t, "again", stored(t, i, "a").Labels["changed"])
	})
}

func TestContract_D14_WithoutVersionsOfTheirOwnObjectsCountAsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", ""))
		_, j := startWithJournal(t, s, Options[*corev1.Pod]{})
		require.Len(t, j.take(), 1)
		s.Set("20", kit.Pod("a", ""))
		s.Expire()
		require.Equal(t, []string{"update a@ a@"}, j.take())
	})
}

// T8: a watch event is stored and delivered whatever its version, because fake clientsets never
// change a resourceVersion.
func TestContract_T8_AWatchEventIsAlwaysStoredAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{})
		j.take()
		for _, version := range []string{"1", "1", "", "0"} {
			p := kit.Pod("a", version)
			s.Send(watch.Modified, p)
			require.Len(t, j.take(), 1)
			require.Same(t, p, stored(t, i, "a"))
		}
	})
}

// T9: a relist delivers deletes first and then the other changes in the order of the list, after
// the store shows them all.
func TestContract_T9_TheStoreIsReplacedBeforeAnythingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
		j := &journal{}
		relisted := false
		_, err := i.Handle(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			j.Handle(c)
			if relisted {
				require.Equal(t, 3, i.Indexer().Len())
				require.Equal(t, "20", i.Indexer().Snapshot().Version())
			}
		}), HandlerOptions{})
		require.NoError(t, err)
		start(t, i)
		j.take()
		relisted = true
		s.Set("20", kit.Pod("z", "15"), kit.Pod("c", "16"), kit.Pod("y", "17"))
		s.Expire()
		lines := j.take()
		require.ElementsMatch(t, []string{"lost a@1", "lost b@2"}, lines[:2])
		require.Equal(t, []string{"add z@15", "update c@3 c@16", "add y@17"}, lines[2:])
	})
}

// D13: the transform runs once for each object received, with no lock held.
func TestContract_D13_TheTransformRunsOnceAndUnderNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		calls := 0
		var i *Informer[*corev1.Pod]
		i = New(sourceOf(s), Options[*corev1.Pod]{Observe: observed, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			calls++
			for range i.Indexer().All() { // with the calls below, takes every lock
				continue
			}
			i.Status()
			return p, i.AddIndexes()
		}})
		start(t, i)
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
		s, calls := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), 0
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			calls++
			return p, nil
		}})
		j.take()
		a := stored(t, i, "a")
		s.Set("20", kit.Pod("a", "1"), kit.Pod("b", "12"))
		s.Expire()
		require.Equal(t, []string{"update b@2 b@12"}, j.take())
		require.Equal(t, 4, calls)
		require.Same(t, a, stored(t, i, "a"))
	})
}

// A sink replaces a listed object with the stored object of the same version, unless a user has put
// the stored object.
func TestWhatASinkReuses(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
	require.NoError(t, f.clientgo.store.Update(kit.Pod("c", "3")))
	listed := func() (all []deltafifo.Delta) {
		for _, p := range []*corev1.Pod{kit.Pod("a", "1"), kit.Pod("b", "22"), kit.Pod("c", "3"), kit.Pod("d", "4"), kit.Pod("a", "1", kit.UID("another"))} {
			all = append(all, deltaOf(deltafifo.Added, p))
		}
		return all
	}
	recalled := func(all []deltafifo.Delta) (names []string) {
		for _, d := range all {
			if d.Recalled {
				now, _ := podsIn(f.Core).Get(d.Key)
				require.Same(t, now, d.Object)
				names = append(names, d.Key.Name)
			}
		}
		return names
	}
	all := listed()
	f.in.Reuse(all)
	require.Equal(t, []string{"a"}, recalled(all))
}

func TestContract_D7_ATransformThatClearsIdentitiesBlindsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, j := startWithJournal(t, s, Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			p.ResourceVersion, p.UID = "", ""
			return p, nil
		}})
		require.Len(t, j.take(), 2)
		a := stored(t, i, "a")
		s.Send(watch.Modified, kit.Pod("b", "11"))
		require.Len(t, j.take(), 1)
		require.Equal(t, "11", i.Indexer().Version(), "the version of before the transform")
		s.Set("20", kit.Pod("a", "1"), kit.Pod("b", "11", kit.UID("another")))
		s.Expire()
		require.Equal(t, []string{"lost b@", "add b@"}, j.take(), "a did not change, b is another")
		require.Same(t, a, stored(t, i, "a"))
		s.Send(watch.Deleted, kit.Pod("a", "21"))
		s.Send(watch.Added, kit.Pod("a", "22"))
		require.Equal(t, []string{"delete a@", "add a@"}, j.take())
	})
}

// D6: the store's version never goes back while the server's history lasts.
func TestContract_D6_TheVersionNeverGoesBack(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	f.list("10", kit.Pod("a", "5"))
	for _, step := range []struct{ comes, is string }{
		{"12", "12"}, {"11", "12"}, {"", "12"}, {"13", "13"}, {"garbage", "garbage"}, {"14", "14"},
	} {
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", step.comes)))
		require.Equal(t, step.is, f.Writer().Indexer().Version())
	}
	f.apply(deltafifo.Delta{Op: deltafifo.Bookmark, Version: "20"})
	require.Equal(t, "20", f.Writer().Indexer().Version())
	f.list("15", kit.Pod("a", "14"))
	require.Equal(t, "20", f.Writer().Indexer().Version())
	f.apply(deltafifo.Delta{Op: deltafifo.Begin, NewHistory: true})
	f.commitReplace("3")
	require.Equal(t, "3", f.Writer().Indexer().Version(), "but with another history (D23)")
}

// T19, D14: an object that a relist has found unchanged is not lost if a user overwrites it before
// the commit: it lasts until the next event or list.
func TestContract_T19_AnUpdateDuringARelistLosesNothing(t *testing.T) {
	for _, replace := range []bool{false, true} {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		f.list("1", kit.Pod("a", "1"))
		store := f.clientgo.store
		f.beginReplace()
		f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "1")))
		if replace {
			require.NoError(t, store.Replace([]any{kit.Pod("a", "1")}, ""))
		} else {
			require.NoError(t, store.Update(kit.Pod("a", "1", kit.Label("mine", "yes"))))
		}
		f.commitReplace("2")
		require.Equal(t, 1, f.Status().Objects)
		f.list("3", kit.Pod("a", "1"))
		a, _ := podsIn(f.Core).Get(named("a"))
		require.Empty(t, a.Labels["mine"])
	}
}

// pager is a source whose lists fail on the second page.
type pager struct{ script }

func (p *pager) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue != "" {
		return nil, context.DeadlineExceeded
	}
	list, err := p.script.List(ctx, o)
	if err == nil {
		list.(*corev1.PodList).Continue = "more"
	}
	return list, err
}

func TestPagesOfAListThatFailsConfirmNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{}
		p.Set("10", kit.Pod("a", "1"))
		i, _ := startWithJournal(t, p, Options[*corev1.Pod]{})
		time.Sleep(time.Hour)
		require.False(t, i.Status().Synced)
		require.Zero(t, i.Status().Confirmed, "the store was never up to date")
		require.Zero(t, i.Status().LastEvent)
	})
}

// An object that the transport has left out of a list, because the store holds it, is not
// transformed again and stays as it is stored.
func TestWhatIsRecalledStaysAsItIs(t *testing.T) {
	transforms := 0
	f := newTestCore(t, Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
		transforms++
		p.Labels = map[string]string{"transformed": "once"}
		return p, nil
	}}, 1)
	in, ctx := f.Sink(0), t.Context()
	full := func(version string, batch ...deltafifo.Delta) {
		require.NoError(t, in.Begin(ctx, reflector.SameHistory))
		require.NoError(t, in.Write(ctx, batch))
		require.NoError(t, in.Commit(ctx, version))
	}
	recalled := func(name, version string) deltafifo.Delta {
		p, ok := in.Recall(object.Identity{Key: named(name), UID: "uid-" + name, Version: version})
		require.True(t, ok)
		d := deltaOf(deltafifo.Added, p.(*corev1.Pod))
		d.Recalled = true
		return d
	}
	full("10", deltaOf(deltafifo.Added, kit.Pod("a", "1")), deltaOf(deltafifo.Added, kit.Pod("b", "2")))
	f.drain(t)
	a, _ := f.Writer().Indexer().Get(named("a"))
	for _, id := range []object.Identity{{Key: named("c"), UID: "uid-c", Version: "1"}, {Key: named("a"), UID: "uid-a", Version: "2"}, {Key: named("a"), UID: "uid-b", Version: "1"}} {
		_, ok := in.Recall(id)
		require.False(t, ok, "%v", id)
	}

	ofA, ofB := recalled("a", "1"), recalled("b", "2")
	require.NoError(t, f.clientgo.store.Delete(kit.Pod("b", "2"))) // by hand, meanwhile
	full("20", ofA, ofB)
	f.drain(t)
	require.Equal(t, 2, transforms)
	require.Equal(t, 2, f.Writer().Indexer().Len(), "nothing is lost")
	now, _ := podsIn(f.Core).Get(named("a"))
	require.Same(t, a, now)
	require.Equal(t, "once", now.Labels["transformed"])
}

// D7: a stored object is recalled by the server's version and UID, whatever the transform has made of them.
func TestObjectsAreRecalledByTheServersIdentity(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"another version": func(p *corev1.Pod) { p.ResourceVersion = "2" },
		"no UID":          func(p *corev1.Pod) { p.UID = "" },
		"neither":         func(p *corev1.Pod) { p.UID, p.ResourceVersion = "", "" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newTestCore(t, Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
				change(p)
				return p, nil
			}}, 1)
			in, ctx := f.Sink(0), t.Context()
			require.NoError(t, in.Begin(ctx, reflector.SameHistory))
			require.NoError(t, in.Write(ctx, []deltafifo.Delta{deltaOf(deltafifo.Added, kit.Pod("a", "1"))}))
			require.NoError(t, in.Commit(ctx, "1"))
			f.drain(t)
			store := f.clientgo.store
			require.NoError(t, store.Update(kit.Pod("b", "3"))) // by hand, as the server sent it
			for o, is := range map[[2]string]bool{{"a", "1"}: true, {"a", "2"}: false, {"b", "3"}: false} {
				_, ok := in.Recall(object.Identity{Key: named(o[0]), UID: "uid-" + o[0], Version: o[1]})
				require.Equal(t, is, ok, "%v", o)
			}
			_, ok := f.Sink(0).Recall(object.Identity{Key: named("a")})
			require.False(t, ok)
		})
	}
}
