package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// An informer holds its share alone, at first and after changes, and asks for it in each request.
func TestContract_D42_AShareOfTheObjects(t *testing.T) {
	onBoth(t, func(t *testing.T, d *divided, filters bool) {
		none, err := shard.Of(shard.ByUID)
		require.NoError(t, err)
		for name, share := range map[string]shard.Set{
			"a-third-of-the-uids": nthOf(t, shard.ByUID, 1, 3), "half-of-the-namespaces": nthOf(t, shard.ByNamespace, 0, 2),
			"everything": shard.Whole(shard.ByUID), "nothing": none,
		} {
			i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(share), Observe: quiet})
			stop := d.run(i)
			require.NoError(t, i.WaitSynced(t.Context()))
			d.holds(i, share)
			for _, pod := range d.live() {
				pod.Labels = map[string]string{"seen": name}
				require.NoError(t, d.server.Update(t.Context(), &pod))
			}
			require.NoError(t, i.WaitFresh(t.Context()))
			d.holds(i, share)
			for _, selector := range d.asked() {
				if selector == "" && share.Selector() != "" {
					continue // the question for the newest version
				}
				require.Equal(t, share.Selector(), selector)
			}
			s := i.Status().Shard
			require.True(t, s.Share.Equal(share))
			switch {
			case share.Selector() == "":
				require.Equal(t, informer.ShardStatus{Share: share}, s)
			case filters:
				require.Zero(t, s.Foreign)
				require.NotEqual(t, "does not filter", s.Server)
			default:
				require.NotZero(t, s.Foreign)
				require.Equal(t, "does not filter", s.Server)
			}
			stop()
		}
	})
}

// A request that is refused as invalid is repeated without the selector, and for ten minutes none has one.
func TestContract_D43_ASelectorThatIsRefused(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestURITooLong, http.StatusUnprocessableEntity, http.StatusRequestHeaderFieldsTooLarge} {
		inDivided(t, false, func(t *testing.T, d *divided) {
			d.refuse = func(selector string) int {
				if selector != "" {
					return status
				}
				return 0
			}
			share := nthOf(t, shard.ByUID, 0, 2)
			var refused atomic.Int64
			i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(share), Observe: func(e informer.Event) {
				if _, ok := e.(reflector.SelectorRefused); ok {
					refused.Add(1)
				}
			}})
			defer d.run(i)()
			require.NoError(t, i.WaitSynced(t.Context()))
			d.holds(i, share)
			require.EqualValues(t, 1, refused.Load())
			asked := d.asked()
			require.Equal(t, share.Selector(), asked[0])
			require.False(t, slices.Contains(asked[1:], share.Selector()))

			reconnect := func() []string { // in virtual time
				d.asked()
				d.server.CutWatches()
				time.Sleep(10 * time.Second)
				return d.asked()
			}
			time.Sleep(9 * time.Minute)
			require.False(t, slices.Contains(reconnect(), share.Selector()), "nine minutes later")
			time.Sleep(2 * time.Minute)
			require.Contains(t, reconnect(), share.Selector(), "eleven minutes later")
			require.EqualValues(t, 2, refused.Load())
			require.NoError(t, i.WaitFresh(t.Context()))
			d.holds(i, share)
		})
	}
}

// A server that fails is never asked for everything.
func TestContract_D43_AServerThatFails(t *testing.T) {
	inDivided(t, true, func(t *testing.T, d *divided) {
		fail := true
		d.refuse = func(string) int {
			if fail { // under mu
				return http.StatusInternalServerError
			}
			return 0
		}
		share := nthOf(t, shard.ByUID, 0, 2)
		i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(share), Observe: quiet})
		defer d.run(i)()
		time.Sleep(5 * time.Minute) // in virtual time
		synctest.Wait()
		asked := d.asked()
		require.NotEmpty(t, asked)
		for _, selector := range asked {
			require.Equal(t, share.Selector(), selector)
		}
		d.mu.Lock()
		d.refuse = nil
		d.mu.Unlock()
		require.NoError(t, i.WaitSynced(t.Context()))
		d.holds(i, share)
	})
}

// The pages of a list have the selector of its first page.
func TestContract_D43_PagesHaveOneSelector(t *testing.T) {
	for _, filters := range []bool{true, false} {
		inDividedOf(t, informertest.Options{ShardedListAndWatch: filters, NoWatchList: true, NoWatchCache: true}, func(t *testing.T, d *divided) {
			share := nthOf(t, shard.ByUID, 0, 2)
			i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(share), PageSize: 5, Observe: quiet})
			defer d.run(i)()
			require.NoError(t, i.WaitSynced(t.Context()))
			d.mu.Lock()
			defer d.mu.Unlock()
			require.Greater(t, len(d.pages), 2)
			for _, selector := range d.pages {
				require.Equal(t, share.Selector(), selector)
			}
		})
	}
}

// The events of foreign objects move the version, soon, and behind the own events before them.
func TestContract_D44_ForeignEventsMoveTheVersion(t *testing.T) {
	inDivided(t, false, func(t *testing.T, d *divided) {
		share := nthOf(t, shard.ByUID, 0, 2)
		i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(share), Observe: quiet})
		defer d.run(i)()
		require.NoError(t, i.WaitSynced(t.Context()))
		foreign := 0
		for n := range 60 {
			pod := podIn("team-0", fmt.Sprint("late-", n))
			require.NoError(t, d.server.Create(t.Context(), pod))
			began := time.Now()
			require.NoError(t, i.WaitDelivered(t.Context(), pod.ResourceVersion))
			require.LessOrEqual(t, time.Since(began), 150*time.Millisecond)
			_, ok := i.Indexer().Get(indexer.Key{Namespace: pod.Namespace, Name: pod.Name})
			require.Equal(t, share.Has(pod.Namespace, pod.UID), ok)
			if !ok {
				foreign++
			}
			require.NoError(t, i.WaitDelivered(t.Context(), pod.ResourceVersion))
		}
		require.NotZero(t, foreign)
		require.NotEqual(t, 60, foreign)
		d.holds(i, share)
	})
}

// Where the server filters, a share without changes is as new as the server with the next bookmark, for which it asks.
func TestContract_D44_AFilteredShareInWhichNothingChanges(t *testing.T) {
	inDividedOf(t, informertest.Options{ShardedListAndWatch: true, BookmarkInterval: time.Minute}, func(t *testing.T, d *divided) {
		none, err := shard.Of(shard.ByUID)
		require.NoError(t, err)
		i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(none), Observe: quiet})
		defer d.run(i)()
		require.NoError(t, i.WaitSynced(t.Context()))
		for n := range 3 {
			pod := podIn("team-0", fmt.Sprint("late-", n))
			require.NoError(t, d.server.Create(t.Context(), pod))
			before := i.Indexer().Version()
			synctest.Wait()
			require.Equal(t, before, i.Indexer().Version(), "the informer has got nothing")
			began := time.Now()
			require.NoError(t, i.WaitFresh(t.Context()))
			require.LessOrEqual(t, time.Since(began), 8*time.Second)
			require.Equal(t, pod.ResourceVersion, i.Indexer().Version())
		}
	})
}

// What cannot be read as a share is refused by Run, with the reason.
func TestContract_D45_SharesThatAreRefused(t *testing.T) {
	inDivided(t, false, func(t *testing.T, d *divided) {
		byUID, byNamespace := nthOf(t, shard.ByUID, 0, 2), nthOf(t, shard.ByNamespace, 0, 2)
		one := reflector.FromGenerated[*corev1.Pod](kubernetes.NewForConfigOrDie(d.config()).CoreV1().Pods("team-1"), pods)
		run := func(share shard.Set, sources ...reflector.Source) error {
			i := informer.Join(sources, informer.Options[*corev1.Pod]{Shard: shard.Static(share), Observe: quiet})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return i.Run(ctx)
		}
		require.ErrorIs(t, run(byUID, d.source(), d.source()), informer.ErrSharded)
		require.ErrorIs(t, run(byNamespace, one), informer.ErrSharded)
		require.ErrorIs(t, run(shard.Set{}, d.source()), shard.ErrField)
		require.NoError(t, run(byUID, one))
		require.NoError(t, run(byNamespace, d.source()))
	})
}

// moving is an Assignment that changes.
type moving struct{ share atomic.Pointer[shard.Set] }

func (m *moving) Share() shard.Set { return *m.share.Load() }

// An informer keeps the share that it has asked for when it began. A new informer asks again.
func TestContract_D46_AShareIsAskedForOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, d *divided, _ bool) {
		first, second := nthOf(t, shard.ByUID, 0, 2), nthOf(t, shard.ByUID, 1, 3)
		m := &moving{}
		m.share.Store(&first)
		i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: m, Observe: quiet})
		defer d.run(i)()
		require.NoError(t, i.WaitFresh(t.Context()))
		m.share.Store(&second)
		d.server.CutWatches()
		require.NoError(t, i.WaitFresh(t.Context()))
		d.holds(i, first)
		next := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: m, Observe: quiet})
		defer d.run(next)()
		require.NoError(t, next.WaitFresh(t.Context()))
		d.holds(next, second)
	})
}

// Of a packed store nothing is decoded for what is foreign.
func TestContract_D47_ForeignObjectsAreNotDecoded(t *testing.T) {
	on := verify.On
	verify.On = false // it decodes what is packed, to compare it
	t.Cleanup(func() { verify.On = on })
	onBoth(t, func(t *testing.T, d *divided, _ bool) {
		share := nthOf(t, shard.ByUID, 0, 2)
		i := informer.New(d.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(share), Storage: informer.Storage{Decoded: informer.NewBudget(0)}, Observe: quiet})
		defer d.run(i)()
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Zero(t, i.Status().Storage.Decodes)
		require.Zero(t, i.Status().Storage.Pinned)
		d.holds(i, share)
	})
}

// Own writes of the share are shown when the calls return, and others never. An audit of a share finds no differences.
func TestContract_D48_OwnWritesOfAShare(t *testing.T) {
	onBoth(t, func(t *testing.T, d *divided, _ bool) {
		own := reflector.NewOwnWrites()
		config := d.config()
		config.Wrap(own.Wire)
		client := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("team-0")
		share := nthOf(t, shard.ByUID, 0, 2)
		i := informer.New(podsOf(config), informer.Options[*corev1.Pod]{Shard: shard.Static(share), Observe: quiet})
		defer d.run(i)()
		require.NoError(t, i.WaitFresh(t.Context()))
		resume := d.server.Stall(informertest.Request{Verb: "watch", Resource: "pods"})
		written, outside := uint64(0), uint64(0)
		for n := range 40 {
			pod, err := client.Create(t.Context(), podIn("team-0", fmt.Sprint("own-", n)), metav1.CreateOptions{})
			require.NoError(t, err)
			got, ok := i.Indexer().Get(indexer.Key{Namespace: pod.Namespace, Name: pod.Name})
			require.Equal(t, share.Has(pod.Namespace, pod.UID), ok)
			if ok {
				require.Equal(t, pod.ResourceVersion, got.ResourceVersion)
				written++
			} else {
				outside++
			}
		}
		require.NotZero(t, written)
		require.NotZero(t, outside)
		s := i.Status().OwnWrites
		require.Equal(t, written, s.Shown)
		require.Equal(t, outside, s.Outside)
		require.Zero(t, s.Waiting)
		resume()
		require.NoError(t, i.WaitFresh(t.Context()))
		d.holds(i, share)
		found, err := audit.Of(t.Context(), i.Shared())
		require.NoError(t, err)
		require.Empty(t, found.Differences)
	})
}
