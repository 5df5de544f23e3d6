package informer

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

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
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

// only returns the share of some values of a field.
func only(f shard.Field, values ...string) shard.Set {
	var ranges []shard.Range
	for _, value := range values {
		ranges = append(ranges, shard.Range{From: shard.Hash(value), To: shard.Hash(value) + 1})
	}
	set, err := shard.Of(f, ranges...)
	if err != nil {
		panic(err)
	}
	return set
}

// pods returns the share of the pods with some names, whose UIDs are kit's.
func pods(names ...string) shard.Set {
	var uids []string
	for _, name := range names {
		uids = append(uids, "uid-"+name)
	}
	return only(shard.ByUID, uids...)
}

// sharded starts informers of a script with the share of a test.
type sharded struct {
	*script
	*turns
	t    *testing.T
	i    *Informer[*corev1.Pod]
	stop func()
}

func newSharded(t *testing.T, s *script, o Options[*corev1.Pod], share shard.Set) *sharded {
	x := &sharded{script: s, turns: &turns{set: share}, t: t}
	o.Shard = x.turns
	if o.Observe == nil {
		o.Observe = observed
	}
	x.i = New(sourceOf(s), o)
	return x
}

// start begins a run.
func (x *sharded) start() {
	cancel, wait := starts(x.t, x.i)
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
	eachDelivery(t, func(t *testing.T, d Delivery) {
		x := newSharded(t, newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), Options[*corev1.Pod]{}, pods("a", "b"))
		j := &journal{}
		_, err := x.i.Handle(j, HandlerOptions{Delivery: d})
		require.NoError(t, err)
		require.Zero(t, x.i.Status().Shard)
		x.start()
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, j.take())
		require.Equal(t, "a b", x.stored())
		before := x.i.Status()
		time.Sleep(time.Hour)
		x.Send(watch.Modified, kit.Pod("c", "11"))
		require.Empty(t, j.take())
		require.Equal(t, ShardStatus{Share: pods("a", "b"), Foreign: 2, Server: "does not filter"}, x.i.Status().Shard)
		require.NoError(t, x.i.WaitDelivered(t.Context(), "11"), "the version of a foreign event counts")
		require.Zero(t, x.i.Status().Staleness, "and so does that the server has sent it")
		require.Equal(t, before.LastEvent, x.i.Status().LastEvent, "it is no event of the store")
		x.Set("20", kit.Pod("a", "1"), kit.Pod("b", "12"), kit.Pod("c", "11"))
		x.Expire()
		require.Equal(t, []string{"update b@2 b@12"}, j.take())
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
		"ends its goroutine": {func() shard.Set { runtime.Goexit(); return shard.Set{} }, ErrExited, "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				i := New(sourceOf(newScript("10")), Options[*corev1.Pod]{Shard: unruly(row.share), Observe: observed})
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
			pods("a", "b"),
		},
		"no uid": {stripped, pods("a", "b")},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScript("10", named("one", kit.Pod("a", "1")), named("two", kit.Pod("b", "2")), named("three", kit.Pod("c", "3")))
				x := newSharded(t, s, Options[*corev1.Pod]{Transform: row.transform}, row.share)
				x.start()
				require.Equal(t, "a b", x.stored())
			})
		})
	}
}

// D35: own writes are shown within the share alone, and a write outside of it is nothing to wait for.
func TestOwnWritesAndTheShare(t *testing.T) {
	inside, outside := only(shard.ByUID, "uid-p"), only(shard.ByUID, "uid-q")
	for _, row := range []struct {
		words  string
		share  shard.Set
		holds  string
		counts OwnWrites
	}{
		{"a!7", inside, "a@7", OwnWrites{Shown: 1, Pending: 1}},
		{"a+5 a0", inside, "", OwnWrites{Shown: 1, Pending: 1}},
		{"a!7", only(shard.ByNamespace, "default"), "a@7", OwnWrites{Shown: 1, Pending: 1}},
		{"a!7", outside, "", OwnWrites{Outside: 1}},
		{"ax7", outside, "", OwnWrites{Outside: 1}},
		{"a0", outside, "", OwnWrites{Outside: 1}},
		{"ae7", outside, "", OwnWrites{Outside: 1}},
		{"a?7", outside, "", OwnWrites{Outside: 1}},
		{"a~7", outside, "", OwnWrites{Outside: 1}},
		{"a!7 a^9 a0", outside, "", OwnWrites{Outside: 2}},
		{"a!7", only(shard.ByNamespace, "other"), "", OwnWrites{Outside: 1}},
		{"a*", only(shard.ByNamespace, "other"), "", OwnWrites{Outside: 1}},
		{"a*", only(shard.ByNamespace, "default"), "", OwnWrites{Doubtful: 1}},
		{"a*", outside, "", OwnWrites{Doubtful: 1}}, // without a UID nobody can tell
	} {
		t.Run(row.words+" "+row.share.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWritingOf(t, Options[*corev1.Pod]{}, 1)
				w.Read(row.share)
				for word := range strings.FieldsSeq(row.words) {
					w.says(word)
				}
				require.Equal(t, row.holds, w.holds())
				row.counts.Linked = true
				require.Equal(t, row.counts, w.Status().OwnWrites)
			})
		})
	}
}

// What cannot have a share is refused by Run.
func TestInformersWithoutAShare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		byNamespace := shard.Static(shard.Whole(shard.ByNamespace))
		two := Join([]reflector.Source{sourceOf(newScript("1")), sourceOf(newScript("1"))}, Options[*corev1.Pod]{Shard: byNamespace, Observe: observed})
		require.ErrorIs(t, two.Run(t.Context()), ErrSharded)
		require.ErrorIs(t, two.WaitSynced(t.Context()), ErrSharded)

		shop := inNamespace{newScript("1"), "shop"}
		one := New(shop.source(), Options[*corev1.Pod]{Shard: byNamespace, Observe: observed})
		err := one.Run(t.Context())
		require.ErrorIs(t, err, ErrSharded)
		require.ErrorContains(t, err, "namespace shop")
		require.ErrorIs(t, one.WaitSynced(t.Context()), ErrStopped)
		require.ErrorIs(t, one.Status().LastError, ErrSharded)
		lists, watches := shop.Requests()
		require.Zero(t, lists+watches, "no request was sent")
		start(t, New(shop.source(), Options[*corev1.Pod]{Shard: shard.Static(shard.Whole(shard.ByUID)), Observe: observed}))

		none := New(sourceOf(newScript("1")), Options[*corev1.Pod]{Shard: shard.Static(shard.Set{}), Observe: observed})
		require.ErrorIs(t, none.Run(t.Context()), shard.ErrField)
		require.ErrorIs(t, none.WaitSynced(t.Context()), shard.ErrField)
		require.ErrorIs(t, none.WaitFresh(t.Context()), shard.ErrField)
	})
}

// A source may send versions in any order, as a fake clientset does. A foreign event moves the version forward only.
func TestForeignEventsWithOlderVersions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newSharded(t, newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{}, pods("a"))
		x.start()
		for _, row := range []struct{ version, want string }{{"20", "20"}, {"15", "20"}, {"21", "21"}, {"", "21"}} {
			x.Send(watch.Modified, kit.Pod("b", row.version))
			time.Sleep(time.Second)
			synctest.Wait()
			require.Equal(t, row.want, x.i.Indexer().Version())
		}
	})
}
