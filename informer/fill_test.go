package informer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// kept is a server with the pods a, b and c, and the state that a user has saved of it.
type kept struct {
	t      *testing.T
	server *informertest.Server
	state  informer.State[*corev1.Pod]

	mu   sync.Mutex
	told []string
}

func podIn(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func inKept(t *testing.T, test func(*testing.T, *kept)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := &kept{t: t, server: informertest.New(informertest.Options{})}
		t.Cleanup(k.server.Close)
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, k.server.Create(t.Context(), podIn("default", name)))
		}
		k.state = k.now("")
		test(t, k)
	})
}

// now returns the server's present state of a namespace, or of all namespaces.
func (k *kept) now(namespace string) (s informer.State[*corev1.Pod]) {
	k.t.Helper()
	list, err := k.source(namespace).List(k.t.Context(), metav1.ListOptions{})
	require.NoError(k.t, err)
	pods := list.(*corev1.PodList)
	for i := range pods.Items {
		s.Objects = append(s.Objects, &pods.Items[i])
	}
	s.Version = pods.ResourceVersion
	return s
}

func (k *kept) source(namespace string) reflector.Source {
	return k.server.Source(corev1.SchemeGroupVersion.WithResource("pods"), namespace)
}

// change deletes a, changes b and creates d.
func (k *kept) change(namespace string) {
	k.t.Helper()
	require.NoError(k.t, k.server.Delete(k.t.Context(), podIn(namespace, "a")))
	b := podIn(namespace, "b")
	b.Labels = map[string]string{"changed": "yes"}
	require.NoError(k.t, k.server.Update(k.t.Context(), b))
	require.NoError(k.t, k.server.Create(k.t.Context(), podIn(namespace, "d")))
}

// watch adds a handler that records its changes.
func (k *kept) watch(i *informer.Informer[*corev1.Pod]) informer.Registration {
	k.t.Helper()
	reg, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		k.mu.Lock()
		defer k.mu.Unlock()
		obj := c.New
		if obj == nil {
			obj = c.Old
		}
		words := []string{strings.ToLower(c.Kind.String()), obj.Name}
		if c.Initial {
			words[0] = "initial"
		}
		if c.Lost {
			words[0] = "lost"
		}
		k.told = append(k.told, strings.Join(words, " "))
	}), informer.HandlerOptions{})
	require.NoError(k.t, err)
	return reg
}

func (k *kept) take() []string {
	synctest.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	told := k.told
	k.told = nil
	return told
}

func (k *kept) start(i *informer.Informer[*corev1.Pod]) (stop func()) {
	k.t.Helper()
	ctx, cancel := context.WithCancel(k.t.Context())
	wait, err := i.Start(ctx)
	require.NoError(k.t, err)
	stop = func() { cancel(); require.NoError(k.t, wait()) }
	k.t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// full returns the number of lists and streams since the counts in before, which it updates.
func (k *kept) full(before *informertest.Counts) int {
	now := k.server.Counts()
	n := now.List + now.WatchList - before.List - before.WatchList
	*before = now
	return n
}

func quiet(informer.Event) {}

// D24: a store that was filled with a saved state is brought up to date by a watch. The informer is
// synced once the watch has brought all changes since then.
func TestContract_D24_AFilledStoreIsWatchedFromItsVersion(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		k.change("default")
		asked := k.server.Counts()
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		require.NoError(t, i.Fill(k.state))
		reg := k.watch(i)
		k.start(i)
		require.ElementsMatch(t, []string{"initial a", "initial b", "initial c", "deleted a", "updated b", "added d"}, k.take())
		require.Equal(t, 3, i.Indexer().Len())
		for _, synced := range []<-chan struct{}{i.Synced(), reg.Synced()} {
			select {
			case <-synced:
				t.Fatal("nothing says that the watch has brought all")
			default:
			}
		}
		time.Sleep(1100 * time.Millisecond)
		require.NoError(t, i.WaitSynced(t.Context()))
		<-reg.Synced()
		require.Zero(t, k.full(&asked))
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Equal(t, 1, k.full(&asked), "the question for the newest version")
		require.True(t, i.Status().LastBookmark.IsZero(), "that it was quiet is nothing that it has said")
		k.server.Bookmark()
		time.Sleep(10 * time.Minute)
		require.Zero(t, k.full(&asked))
		require.Empty(t, k.take())
		require.ErrorIs(t, i.Fill(k.state), informer.ErrRunning)
	})
}

// D24: a filled store is listed if the saved version has expired or is not of the server's history,
// or if nothing shows that a watch has caught up.
func TestContract_D24_AFilledStoreIsReadWhereItsVersionWillNotDo(t *testing.T) {
	for name, test := range map[string]struct {
		version string // instead of the state's version
		compact bool
		at      func(reflector.Source) reflector.Source
		want    []string
	}{
		"expired":                 {compact: true, want: []string{"lost a", "updated b", "added d"}},
		"a fake":                  {at: func(s reflector.Source) reflector.Source { return fakeSource{s} }, want: []string{"lost a", "updated b", "added d"}},
		"a version of the future": {version: "9999", want: []string{"lost a", "updated b", "updated c", "added d"}},
	} {
		t.Run(name, func(t *testing.T) {
			inKept(t, func(t *testing.T, k *kept) {
				k.change("default")
				if test.compact {
					k.server.Compact()
				}
				source := k.source("")
				if test.at != nil {
					source = test.at(source)
				}
				if test.version != "" {
					k.state.Version = test.version
				}
				asked := k.server.Counts()
				i := informer.New(source, informer.Options[*corev1.Pod]{Observe: quiet})
				require.NoError(t, i.Fill(k.state))
				k.watch(i)
				k.start(i)
				require.NoError(t, i.WaitSynced(t.Context()))
				time.Sleep(2 * time.Minute) // a rolled-back history is noticed as after an outage
				require.ElementsMatch(t, append([]string{"initial a", "initial b", "initial c"}, test.want...), k.take())
				require.Positive(t, k.full(&asked))
				require.NoError(t, i.WaitFresh(t.Context()))
			})
		})
	}
}

// fakeSource declares, like the source of a fake clientset, that it does not stream.
type fakeSource struct{ reflector.Source }

func (fakeSource) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

// unversioned is a source whose bookmarks have no version.
type unversioned struct{ reflector.Source }

func (u unversioned) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := u.Source.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		if e.Type == watch.Bookmark {
			e.Object = &corev1.Pod{}
		}
		return e, true
	}), nil
}

// D24: a bookmark shows that a resumed watch has brought all earlier changes, even if the bookmark has
// no version.
func TestContract_D24_AFilledStoreIsCompleteAfterAnyBookmark(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		k.change("default")
		i := informer.New(unversioned{k.source("")}, informer.Options[*corev1.Pod]{Observe: quiet})
		require.NoError(t, i.Fill(k.state))
		k.start(i)
		k.server.Bookmark()
		synctest.Wait()
		select {
		case <-i.Synced():
		default:
			t.Fatal("the bookmark has come, and the informer is not synced")
		}
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Zero(t, i.Status().Totals.Lists)
	})
}

// D13, D24: if the first run ends before the store shows the user's state, the next run lists: the
// transform has had some of the state's objects already.
func TestContract_D24_AStateIsTransformedInOneRunOnly(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := map[*corev1.Pod]int{}
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			calls[p]++
			if calls[p] == 1 && len(calls) == 2 {
				cancel() // between two objects
			}
			return p, nil
		}})
		require.NoError(t, i.Fill(k.state))
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		require.NoError(t, wait())
		require.False(t, i.Status().Synced)
		k.watch(i)
		k.start(i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.ElementsMatch(t, []string{"initial a", "initial b", "initial c"}, k.take())
		require.Equal(t, 3, i.Indexer().Len())
		for p, n := range calls {
			require.Equal(t, 1, n, p.Name)
		}
		require.Equal(t, 1, i.Status().Totals.Lists+i.Status().Totals.Streams)
	})
}

// The state that a user has filled in is the first full state: each list after it is a relist.
func TestAFilledStateCountsAsTheFirst(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		require.NoError(t, i.Fill(k.state))
		stop := k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Zero(t, i.Status().Relists)
		for n := range 2 {
			stop()
			require.NoError(t, k.server.Create(t.Context(), podIn("default", fmt.Sprint("new", n))))
			k.server.Compact()
			stop = k.start(i)
			require.NoError(t, i.WaitFresh(t.Context()))
			require.Equal(t, n+1, i.Status().Totals.Lists+i.Status().Totals.Streams)
			require.Equal(t, n+1, i.Status().Relists)
		}
	})
}

// D24: each of several sources resumes from its own version, and a source without a saved state is
// listed.
func TestContract_D24_EachSourceHasAVersion(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		require.NoError(t, k.server.Create(t.Context(), podIn("two", "a")))
		require.NoError(t, k.server.Create(t.Context(), podIn("two", "b")))
		first := k.now("default")
		k.change("two")
		require.NoError(t, k.server.Create(t.Context(), podIn("three", "e")))
		second := k.now("two")
		require.NoError(t, k.server.Delete(t.Context(), podIn("default", "c")))
		asked := k.server.Counts()
		sources := []reflector.Source{k.source("default"), k.source("two"), k.source("three")}
		i := informer.Join(sources, informer.Options[*corev1.Pod]{Observe: quiet})
		require.ErrorIs(t, i.Fill(first), informer.ErrState)
		require.NoError(t, i.Fill(first, second, informer.State[*corev1.Pod]{}))
		k.watch(i)
		k.start(i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.ElementsMatch(t, []string{"initial a", "initial b", "initial c", "initial b", "initial d", "initial e", "deleted c"}, k.take())
		require.Equal(t, 1, k.full(&asked), "of the third")
		require.Equal(t, 5, i.Indexer().Len())
	})
}

// Fill passes objects through the transform, and quarantines the objects on which it fails.
func TestAFilledStoreIsTransformed(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			switch p.Name {
			case "a":
				return nil, errors.New("no")
			case "b":
				panic("no")
			}
			p.Labels = map[string]string{"seen": "yes"}
			return p, nil
		}})
		require.NoError(t, i.Fill(k.state))
		k.start(i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, 1, i.Indexer().Len())
		for p := range i.Indexer().All() {
			require.Equal(t, "yes", p.Labels["seen"])
		}
		require.Equal(t, 2, i.Status().Quarantined)
	})
}

// D28: if the transform ends its goroutine on an object of Fill, the run ends, and the next one lists.
func TestContract_D28_AFilledStore(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		exits := true
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			if exits {
				runtime.Goexit()
			}
			return p, nil
		}})
		require.NoError(t, i.Fill(k.state))
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, wait(), informer.ErrExited)
		require.Zero(t, i.Indexer().Len())
		exits = false
		k.start(i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, 3, i.Indexer().Len())
	})
}

func TestWhatAStoreCannotBeFilledWith(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		type states = []informer.State[*corev1.Pod]
		for _, test := range []struct {
			states states
			want   error
		}{
			{nil, informer.ErrState},
			{states{k.state, k.state}, informer.ErrState},
			{states{{Objects: k.state.Objects}}, informer.ErrState},
			{states{{Version: "0"}}, informer.ErrState},
			{states{{Version: "5", Objects: []*corev1.Pod{nil}}}, informer.ErrType},
		} {
			require.ErrorIs(t, i.Fill(test.states...), test.want)
		}
		require.ErrorIs(t, informer.New[*corev1.Pod](nil, informer.Options[*corev1.Pod]{}).Fill(k.state), informer.ErrNoSource)
		stop := k.start(i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, 3, i.Indexer().Len(), "it was filled with nothing")
		stop()
		require.ErrorIs(t, i.Fill(k.state), informer.ErrStopped)
	})
}

// D24: a run resumes with a watch at the version at which the previous run ended.
func TestContract_D24_ARunGoesOnByAWatch(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		k.watch(i)
		stop := k.start(i)
		require.Len(t, k.take(), 3)
		stop()
		k.change("default")
		asked := k.server.Counts()
		stop = k.start(i)
		require.Equal(t, []string{"deleted a", "updated b", "added d"}, k.take())
		require.Equal(t, k.now("").Version, i.Indexer().Version())
		short, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, i.WaitFresh(short), informer.ErrNotSynced, "the watch may have more to bring")
		asked.List++ // the list of k.now above
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Equal(t, 1, k.full(&asked), "the question for the newest version")
		stop()

		// Nothing was written, so no bookmark comes: a pause shows that the watch has caught up.
		stop = k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Equal(t, 1, k.full(&asked), "the question")
		stop()

		k.deleteB()
		k.server.Compact()
		k.start(i)
		require.Equal(t, []string{"lost b"}, k.take())
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Equal(t, 2, k.full(&asked), "the full state, and the question")
	})
}

func (k *kept) deleteB() {
	k.t.Helper()
	require.NoError(k.t, k.server.Delete(k.t.Context(), podIn("default", "b")))
}

// The next run reads a quarantined object again.
func TestARunReadsAgainWhatIsQuarantined(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		broken := true
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			if p.Name == "b" && broken {
				return nil, errors.New("no")
			}
			return p, nil
		}})
		stop := k.start(i)
		require.Equal(t, 2, i.Indexer().Len())
		stop()
		broken = false
		k.start(i)
		require.Equal(t, 3, i.Indexer().Len())
		require.Zero(t, i.Status().Quarantined)
	})
}
