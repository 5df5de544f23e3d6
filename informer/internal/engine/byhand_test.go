package engine_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// strips are transforms, by the part of an object's identity that they remove.
var strips = map[string]func(*corev1.Pod) (*corev1.Pod, error){
	"nothing":             nil,
	"its resourceVersion": func(p *corev1.Pod) (*corev1.Pod, error) { p.ResourceVersion = ""; return p, nil },
	"its UID":             func(p *corev1.Pod) (*corev1.Pod, error) { p.UID = ""; return p, nil },
	"both":                func(p *corev1.Pod) (*corev1.Pod, error) { p.ResourceVersion, p.UID = "", ""; return p, nil },
}

// writtenByHand overwrites a stored pod as a user would, with a changed copy, and returns the copy.
func writtenByHand(t *testing.T, i *informer.Informer[*corev1.Pod], name string) *corev1.Pod {
	stored, ok := i.Indexer().Get(rig.Named(name))
	require.True(t, ok)
	p := stored.DeepCopy()
	p.Labels = map[string]string{"written": "by hand"}
	require.NoError(t, i.Shared().GetStore().Update(p))
	return p
}

func TestAHandWrittenObjectDoesNotSurviveARelistWhateverTheTransformStrips(t *testing.T) {
	for name, transform := range strips {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
				i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Transform: transform})
				require.Len(t, j.Take(), 2)
				b := rig.Stored(t, i, "b")
				writtenByHand(t, i, "a")
				s.Set("20", kit.Pod("a", "1"), kit.Pod("b", "2"))
				s.Expire()
				require.Len(t, j.Take(), 1, "the handler gets an update of a")
				require.Empty(t, rig.Stored(t, i, "a").Labels, "the server's")
				require.Same(t, b, rig.Stored(t, i, "b"), "no program has written it")

				a := rig.Stored(t, i, "a")
				s.Set("30", kit.Pod("a", "1"), kit.Pod("b", "2"))
				s.Expire()
				require.Empty(t, j.Take(), "it is the server's again")
				require.Same(t, a, rig.Stored(t, i, "a"))
			})
		})
	}
}

// A user overwrites an object after a running replacement has found it unchanged. The object stays, and
// the next replacement restores it and its identity.
func TestAHandWrittenObjectSurvivesAFullStateThatHasSeenItsKey(t *testing.T) {
	for name, transform := range strips {
		t.Run(name, func(t *testing.T) {
			j := newJoined(t, informer.Options[*corev1.Pod]{Transform: transform}, 1)
			full := func(version string, meanwhile func()) {
				j.beginReplace(0, reflector.SameHistory)
				j.tell(0, deltaOf(deltafifo.Added, kit.Pod("a", "1")))
				meanwhile()
				j.commitReplace(0, version)
			}
			full("10", func() {})
			var mine *corev1.Pod
			full("20", func() { mine = writtenByHand(t, j.view, "a") })
			now, _ := podsIn(j.Core).Get(rig.Named("a"))
			require.Same(t, mine, now)
			full("30", func() {})
			a, _ := podsIn(j.Core).Get(rig.Named("a"))
			require.NotSame(t, mine, a)
			require.Equal(t, object.Identity{Key: rig.Named("a"), UID: "uid-a", Version: "1"}, j.Identity(rig.Named("a"), a))
			full("40", func() {})
			now, _ = podsIn(j.Core).Get(rig.Named("a"))
			require.Same(t, a, now)
		})
	}
}

func TestAHandWrittenObjectIsNotRecalledInThePlaceOfTheServers(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{}, 1)
	j.beginReplace(0, reflector.SameHistory)
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("a", "1")), deltaOf(deltafifo.Added, kit.Pod("b", "2")))
	j.commitReplace(0, "10")
	writtenByHand(t, j.view, "a")
	_, ok := j.in[0].Recall(object.Identity{Key: rig.Named("a"), UID: "uid-a", Version: "1"})
	require.False(t, ok)
	_, ok = j.in[0].Recall(object.Identity{Key: rig.Named("b"), UID: "uid-b", Version: "2"})
	require.True(t, ok)
}

// Server identities of objects that a user has deleted do not pile up: the next replacement drops
// them.
func TestIdentitiesOfWhatWasDeletedByHandAreForgotten(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{Transform: strips["both"]}, 1)
	for _, name := range []string{"a", "b", "c"} {
		j.beginReplace(0, reflector.SameHistory)
		j.tell(0, deltaOf(deltafifo.Added, kit.Pod(name, "1")))
		j.commitReplace(0, "10")
		require.Equal(t, 1, j.Identities())
		require.NoError(t, j.store().Delete(kit.Pod(name, "1")))
	}
}

// D6: the store's version does not go back while a user replaces the informer's objects.
func TestReplaceDoesNotTakeTheVersionBack(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	f.list("1", kit.Pod("a", "1"))
	store := f.store()
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for !kit.Closed(done) {
			_ = store.Replace([]any{kit.Pod("a", "1")}, "")
			runtime.Gosched() // on one processor the reader below would wait for a time slice
		}
	})
	defer wg.Wait()
	defer close(done)
	for n := range 2_000 {
		version := fmt.Sprint(n + 2)
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", version)))
		for range 20 {
			runtime.Gosched()
			require.False(t, object.Older(f.Writer().Indexer().Version(), version), "%s after %s", f.Writer().Indexer().Version(), version)
		}
	}
}
