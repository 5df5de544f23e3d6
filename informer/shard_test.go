package informer_test

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// turns is an Assignment. asked counts its calls.
type turns struct {
	mu    sync.Mutex
	set   shard.Set
	asked int
}

func (a *turns) Share() shard.Set {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	return a.set
}

// pods returns the share of the pods with some names, whose UIDs are kit's.
func podsNamed(names ...string) shard.Set {
	var uids []string
	for _, name := range names {
		uids = append(uids, "uid-"+name)
	}
	return rig.Only(shard.ByUID, uids...)
}

// sharded starts informers of a script with the share of a test.
type sharded struct {
	*rig.Script
	*turns
	t    *testing.T
	i    *informer.Informer[*corev1.Pod]
	stop func()
}

func newSharded(t *testing.T, s *rig.Script, o informer.Options[*corev1.Pod], share shard.Set) *sharded {
	x := &sharded{Script: s, turns: &turns{set: share}, t: t}
	o.Shard = x.turns
	if o.Observe == nil {
		o.Observe = rig.Observed
	}
	x.i = informer.New(rig.SourceOf(s), o)
	return x
}

// start begins a run.
func (x *sharded) start() {
	cancel, wait := rig.Starts(x.t, x.i)
	x.stop = func() { cancel(); wait() }
}

// stored returns the names of the stored pods.
func (x *sharded) stored() string {
	var names []string
	for p := range x.i.Indexer().All() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// A share is asked for once, when the informer begins.
func TestAShareIsAskedForOnce(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		x := newSharded(t, rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), informer.Options[*corev1.Pod]{}, podsNamed("a", "b"))
		j := &rig.Journal{}
		_, err := x.i.Handle(j, informer.HandlerOptions{Delivery: d})
		require.NoError(t, err)
		require.Zero(t, x.i.Status().Shard)
		x.start()
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, j.Take())
		require.Equal(t, "a b", x.stored())
		before := x.i.Status()
		time.Sleep(time.Hour)
		x.Send(watch.Modified, kit.Pod("c", "11"))
		require.Empty(t, j.Take())
		require.Equal(t, informer.ShardStatus{Share: podsNamed("a", "b"), Foreign: 2, Server: "does not filter"}, x.i.Status().Shard)
		require.NoError(t, x.i.WaitDelivered(t.Context(), "11"), "the version of a foreign event counts")
		require.Zero(t, x.i.Status().Staleness, "and so does that the server has sent it")
		require.Equal(t, before.LastEvent, x.i.Status().LastEvent, "it is no event of the store")
		x.Set("20", kit.Pod("a", "1"), kit.Pod("b", "12"), kit.Pod("c", "11"))
		x.Expire()
		require.Equal(t, []string{"update b@2 b@12"}, j.Take())
		require.Equal(t, 1, x.asked)
	})
}

// unruly is an Assignment that panics, or ends its goroutine.
type unruly func() shard.Set

func (f unruly) Share() shard.Set { return f() }

// An Assignment that panics, or ends its goroutine, ends the run.
func TestAnAssignmentThatFails(t *testing.T) {
	for name, row := range map[string]struct {
		share func() shard.Set
		want  error
		says  string
	}{
		"panics":             {func() shard.Set { panic("no share") }, reflector.ErrPanic, "no share"},
		"ends its goroutine": {func() shard.Set { runtime.Goexit(); return shard.Set{} }, informer.ErrExited, "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := informer.New(rig.SourceOf(rig.NewScript("10")), informer.Options[*corev1.Pod]{Shard: unruly(row.share), Observe: rig.Observed})
				err := i.Run(t.Context())
				require.ErrorIs(t, err, row.want)
				require.ErrorContains(t, err, row.says)
				require.ErrorIs(t, i.WaitSynced(t.Context()), row.want)
			})
		})
	}
}

// The share is of what the server says, whatever a transform makes of it.
func TestTheShareIsOfTheServersObjects(t *testing.T) {
	named := func(namespace string, p *corev1.Pod) *corev1.Pod {
		p.Namespace = namespace
		return p
	}
	for name, row := range map[string]struct {
		transform func(*corev1.Pod) (*corev1.Pod, error)
		share     shard.Set
	}{
		"uid": {
			func(p *corev1.Pod) (*corev1.Pod, error) { p.UID = "same"; return p, nil },
			podsNamed("a", "b"),
		},
		"no uid": {rig.Stripped, podsNamed("a", "b")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rig.NewScript("10", named("one", kit.Pod("a", "1")), named("two", kit.Pod("b", "2")), named("three", kit.Pod("c", "3")))
				x := newSharded(t, s, informer.Options[*corev1.Pod]{Transform: row.transform}, row.share)
				x.start()
				require.Equal(t, "a b", x.stored())
			})
		})
	}
}

// What cannot have a share is refused by Run.
func TestInformersWithoutAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		byNamespace := shard.Static(shard.Whole(shard.ByNamespace))
		two := informer.Join([]reflector.Source{rig.SourceOf(rig.NewScript("1")), rig.SourceOf(rig.NewScript("1"))}, informer.Options[*corev1.Pod]{Shard: byNamespace, Observe: rig.Observed})
		require.ErrorIs(t, two.Run(t.Context()), informer.ErrSharded)
		require.ErrorIs(t, two.WaitSynced(t.Context()), informer.ErrSharded)

		shop := inNamespace{rig.NewScript("1"), "shop"}
		one := informer.New(shop.source(), informer.Options[*corev1.Pod]{Shard: byNamespace, Observe: rig.Observed})
		err := one.Run(t.Context())
		require.ErrorIs(t, err, informer.ErrSharded)
		require.ErrorContains(t, err, "namespace shop")
		require.ErrorIs(t, one.WaitSynced(t.Context()), informer.ErrStopped)
		require.ErrorIs(t, one.Status().LastError, informer.ErrSharded)
		lists, watches := shop.Requests()
		require.Zero(t, lists+watches, "no request was sent")
		rig.Start(t, informer.New(shop.source(), informer.Options[*corev1.Pod]{Shard: shard.Static(shard.Whole(shard.ByUID)), Observe: rig.Observed}))

		none := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{Shard: shard.Static(shard.Set{}), Observe: rig.Observed})
		require.ErrorIs(t, none.Run(t.Context()), shard.ErrField)
		require.ErrorIs(t, none.WaitSynced(t.Context()), shard.ErrField)
		require.ErrorIs(t, none.WaitFresh(t.Context()), shard.ErrField)
	})
}

// A source may send versions in any order, as a fake clientset does. A foreign event moves the version forward only.
func TestForeignEventsWithOlderVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSharded(t, rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), informer.Options[*corev1.Pod]{}, podsNamed("a"))
		x.start()
		for _, row := range []struct{ version, want string }{{"20", "20"}, {"15", "20"}, {"21", "21"}, {"", "21"}} {
			x.Send(watch.Modified, kit.Pod("b", row.version))
			time.Sleep(time.Second)
			synctest.Wait()
			require.Equal(t, row.want, x.i.Indexer().Version())
		}
	})
}
