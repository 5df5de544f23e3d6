package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A sink replaces a listed object with the stored object of the same version, unless a user has put
// the stored object.
func TestWhatASinkReuses(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
	require.NoError(t, f.store().Update(kit.Pod("c", "3")))
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

// D6: the store's version never goes back while the server's history lasts.
func TestContract_D6_TheVersionNeverGoesBack(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
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
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.list("1", kit.Pod("a", "1"))
		store := f.store()
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
		a, _ := podsIn(f.Core).Get(rig.Named("a"))
		require.Empty(t, a.Labels["mine"])
	}
}

// An object that the transport has left out of a list, because the store holds it, is not
// transformed again and stays as it is stored.
func TestWhatIsRecalledIsNotChanged(t *testing.T) {
	transforms := 0
	f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
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
		p, ok := in.Recall(object.Identity{Key: rig.Named(name), UID: "uid-" + name, Version: version})
		require.True(t, ok)
		d := deltaOf(deltafifo.Added, p.(*corev1.Pod))
		d.Recalled = true
		return d
	}
	full("10", deltaOf(deltafifo.Added, kit.Pod("a", "1")), deltaOf(deltafifo.Added, kit.Pod("b", "2")))
	f.drain(t)
	a, _ := f.Writer().Indexer().Get(rig.Named("a"))
	for _, id := range []object.Identity{{Key: rig.Named("c"), UID: "uid-c", Version: "1"}, {Key: rig.Named("a"), UID: "uid-a", Version: "2"}, {Key: rig.Named("a"), UID: "uid-b", Version: "1"}} {
		_, ok := in.Recall(id)
		require.False(t, ok, "%v", id)
	}

	ofA, ofB := recalled("a", "1"), recalled("b", "2")
	require.NoError(t, f.store().Delete(kit.Pod("b", "2"))) // by hand, meanwhile
	full("20", ofA, ofB)
	f.drain(t)
	require.Equal(t, 2, transforms)
	require.Equal(t, 2, f.Writer().Indexer().Len(), "nothing is lost")
	now, _ := podsIn(f.Core).Get(rig.Named("a"))
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
			f := newTestCore(t, informer.Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
				change(p)
				return p, nil
			}}, 1)
			in, ctx := f.Sink(0), t.Context()
			require.NoError(t, in.Begin(ctx, reflector.SameHistory))
			require.NoError(t, in.Write(ctx, []deltafifo.Delta{deltaOf(deltafifo.Added, kit.Pod("a", "1"))}))
			require.NoError(t, in.Commit(ctx, "1"))
			f.drain(t)
			store := f.store()
			require.NoError(t, store.Update(kit.Pod("b", "3"))) // by hand, as the server sent it
			for o, is := range map[[2]string]bool{{"a", "1"}: true, {"a", "2"}: false, {"b", "3"}: false} {
				_, ok := in.Recall(object.Identity{Key: rig.Named(o[0]), UID: "uid-" + o[0], Version: o[1]})
				require.Equal(t, is, ok, "%v", o)
			}
			_, ok := f.Sink(0).Recall(object.Identity{Key: rig.Named("a")})
			require.False(t, ok)
		})
	}
}
