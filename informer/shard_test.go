package informer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// turns is an Assignment that a test changes between two runs. asked counts its calls.
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

func (a *turns) turn(set shard.Set) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set = set
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
	x.i = New(s, o)
	return x
}

// start begins a run.
func (x *sharded) start() {
	cancel, wait := starts(x.t, x.i)
	x.stop = func() { cancel(); wait() }
}

// restart begins another run, with another share.
func (x *sharded) restart(share shard.Set) {
	x.stop()
	x.turn(share)
	x.start()
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

// A share is asked for when a run begins. What is not in the share leaves the store first, and is no delete: it is
// released. The run then reads a full state of the share.
func TestARunWithAnotherShareReleases(t *testing.T) {
	eachDelivery(t, func(t *testing.T, d Delivery) {
		var changed []ShareChanged
		x := newSharded(t, newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), Options[*corev1.Pod]{Observe: func(e Event) {
			if c, ok := e.(ShareChanged); ok {
				changed = append(changed, c)
			}
		}}, pods("a", "b"))
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
		require.Equal(t, ShardStatus{Share: pods("a", "b"), Foreign: 2, Server: NotFiltered}, x.i.Status().Shard)
		require.NoError(t, x.i.WaitVersion(t.Context(), "11"), "the version of a foreign event counts")
		require.Zero(t, x.i.Status().Staleness, "and so does that the server has sent it")
		require.Equal(t, before.LastEvent, x.i.Status().LastEvent, "it is no event of the store")
		require.Empty(t, changed)

		x.Set("20", kit.Pod("a", "1"), kit.Pod("b", "12"), kit.Pod("c", "11"))
		x.restart(pods("b", "c"))
		require.Equal(t, []string{"release a@1", "update b@2 b@12", "add c@11"}, j.take())
		require.Equal(t, "b c", x.stored())
		require.NoError(t, x.i.WaitFresh(t.Context()))
		require.Equal(t, []ShareChanged{{pods("b", "c"), 1}}, changed)
		require.Equal(t, ShardStatus{Share: pods("b", "c"), Foreign: 3, Server: NotFiltered}, x.i.Status().Shard, "of both runs")
		require.Equal(t, 2, x.asked)
		totals := x.i.Status().Totals
		require.Equal(t, []uint64{3, 1, 0, 1}, []uint64{totals.Added, totals.Updated, totals.Deleted, totals.Released})

		x.restart(pods("a"))
		require.ElementsMatch(t, []string{"release b@12", "release c@11", "add a@1"}, j.take())
		x.restart(only(shard.ByNamespace, "default"))
		require.ElementsMatch(t, []string{"add b@12", "add c@11"}, j.take(), "the field of the share may be another one")
		x.restart(only(shard.ByNamespace))
		require.ElementsMatch(t, []string{"release a@1", "release b@12", "release c@11"}, j.take(), "an empty share holds nothing")
		require.Empty(t, x.stored())
	})
}

// Each kind of handler is told of what is released, or is not, as it says.
func TestWhoIsToldOfReleasedObjects(t *testing.T) {
	for name, storage := range map[string]Storage{"decoded": {}, "packed": {Decoded: NewBudget(0)}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := newSharded(t, newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{Storage: storage}, pods("a", "b"))
				var typed, batched, looped journal
				var released, deleted, clientgo, keys kit.Recorder
				handle := func(_ any, err error) { require.NoError(t, err) }
				handle(x.i.Handle(&typed, HandlerOptions{}))
				handle(x.i.Handle(Funcs[*corev1.Pod]{Released: func(last *corev1.Pod) { released.Add(kit.Text(last), last) }}, HandlerOptions{}))
				handle(x.i.Handle(Funcs[*corev1.Pod]{Deleted: func(last *corev1.Pod) { deleted.Add(kit.Text(last), last) }}, HandlerOptions{}))
				handle(x.i.HandleBatch(func(b Batch[*corev1.Pod]) {
					for c := range b.All() {
						batched.Handle(c)
					}
				}, 10, HandlerOptions{}))
				handle(x.i.HandleKeys(func(k indexer.Key) { keys.Add(k.Name, k) }, HandlerOptions{}))
				handle(x.i.Shared().AddEventHandler(clientgo.Handler()))
				x.start()
				x.stop()
				handled := make(chan struct{})
				go func() {
					defer close(handled)
					for c := range x.i.Changes(t.Context(), HandlerOptions{}) { // one run
						looped.Handle(c)
					}
				}()
				synctest.Wait()
				typed.take()
				batched.take()
				keys.Take()
				clientgo.Take()
				x.turn(pods("b"))
				x.start()
				want := []string{"release a@1"}
				require.Equal(t, want, typed.take())
				require.Equal(t, want, batched.take())
				require.ElementsMatch(t, append(want, "initial a@1", "initial b@2"), looped.take())
				require.Equal(t, []string{"a@1"}, released.Take())
				require.Empty(t, deleted.Take())
				require.Empty(t, keys.Take())
				require.Empty(t, clientgo.Take())
				for _, h := range x.i.Status().Handlers {
					require.Zero(t, h.Backlog)
				}
				x.Send(watch.Deleted, kit.Pod("b", "30"))
				require.Equal(t, []string{"b@30"}, deleted.Take())
				x.stop()
				<-handled
			})
		})
	}
}

// The functions of Funcs.Handle, and the name of the kind.
func TestFuncsOfReleasedObjects(t *testing.T) {
	var told []string
	f := Funcs[*corev1.Pod]{Released: func(p *corev1.Pod) { told = append(told, p.Name) }}
	f.Handle(Change[*corev1.Pod]{Kind: Released, Old: kit.Pod("a", "1")})
	f.Handle(Change[*corev1.Pod]{Kind: Deleted, Old: kit.Pod("b", "1")})
	Funcs[*corev1.Pod]{Deleted: f.Released}.Handle(Change[*corev1.Pod]{Kind: Released, Old: kit.Pod("c", "1")})
	require.Equal(t, []string{"a"}, told)
	require.Equal(t, "released", Released.String())
	require.EqualValues(t, 4, Released)
}

// The share is of what the server says, whatever a transform makes of it.
func TestTheShareIsOfTheServersObjects(t *testing.T) {
	named := func(namespace string, p *corev1.Pod) *corev1.Pod {
		p.Namespace = namespace
		return p
	}
	for name, row := range map[string]struct {
		transform     func(*corev1.Pod) (*corev1.Pod, error)
		before, after shard.Set
		told          []string
	}{
		"uid": {
			func(p *corev1.Pod) (*corev1.Pod, error) { p.UID = "same"; return p, nil },
			pods("a", "b"), pods("b", "c"), []string{"release a@1", "add c@3"},
		},
		"no uid": {stripped, pods("a", "b"), pods("b", "c"), []string{"release a@", "add c@"}},
		"namespace": {
			func(p *corev1.Pod) (*corev1.Pod, error) { p.Namespace = "all"; return p, nil },
			only(shard.ByNamespace, "one", "two"), only(shard.ByNamespace, "two", "three"), []string{"release a@1", "add c@3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScript("10", named("one", kit.Pod("a", "1")), named("two", kit.Pod("b", "2")), named("three", kit.Pod("c", "3")))
				x := newSharded(t, s, Options[*corev1.Pod]{Transform: row.transform}, row.before)
				j := &journal{}
				_, err := x.i.Handle(j, HandlerOptions{})
				require.NoError(t, err)
				x.start()
				require.Equal(t, "a b", x.stored())
				j.take()
				x.restart(row.after)
				require.Equal(t, row.told, slices.DeleteFunc(j.take(), func(l string) bool { return strings.HasPrefix(l, "update") }))
				require.Equal(t, "b c", x.stored())
			})
		})
	}
}

// Objects without metadata have the server's key and UID in the records of their source.
func TestObjectsWithoutMetadataAreReleased(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		a := &turns{set: pods("a", "b")}
		c := newCore(Options[any]{Shard: a, Observe: observed, Transform: func(obj any) (any, error) {
			return obj.(*corev1.Pod).Name, nil
		}}, objectType{}, nil, s)
		i := newClientgoInformer(c)
		run := func() {
			ctx, cancel := context.WithCancel(t.Context())
			wait, err := i.Start(ctx, RunOptions{})
			require.NoError(t, err)
			synctest.Wait()
			cancel()
			require.NoError(t, wait())
		}
		run()
		require.ElementsMatch(t, []any{"a", "b"}, i.GetStore().List())
		a.turn(pods("b"))
		run()
		require.Equal(t, []any{"b"}, i.GetStore().List())
		require.EqualValues(t, 1, i.Status().Totals.Released)
		require.Zero(t, i.Status().Totals.Deleted)
	})
}

// A run that ends before all is released leaves the rest to the next one, which does not take it for deleted.
func TestAReleaseThatIsBrokenOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var all []*corev1.Pod
		for n := range 2*maxSection + 10 {
			all = append(all, kit.Pod(fmt.Sprint("p", n), "1"))
		}
		x := newSharded(t, newScript("10", append(all, kit.Pod("stays", "2"))...), Options[*corev1.Pod]{}, shard.Whole(shard.ByUID))
		counts := map[Kind]int{}
		_, err := x.i.Handle(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) { counts[c.Kind]++ }), HandlerOptions{})
		require.NoError(t, err)
		x.start()
		x.stop()
		x.turn(pods("stays"))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		wait, err := x.i.Start(ended)
		require.NoError(t, err)
		require.NoError(t, wait())
		require.Equal(t, len(all)+1, x.i.Indexer().Len())
		x.start()
		require.Equal(t, map[Kind]int{Added: len(all) + 1, Released: len(all)}, counts)
		require.Equal(t, "stays", x.stored())
	})
}

// stuck returns a core whose handler, with Latest, has seen a@1 and b@1, and is stuck in an update of b.
func stuckWithShare(t *testing.T) (*testCore, *gated, func(share shard.Set)) {
	f, h := stuckInB(t)
	return f, h, func(share shard.Set) {
		f.run.share = reflector.NewShare(share)
		f.reshard(f.run)
		synctest.Wait()
	}
}

// With Latest, what is released is told as the difference from what the handler has seen.
func TestLatestAndReleasedObjects(t *testing.T) {
	another := kit.UID("another")
	for name, row := range map[string]struct {
		before []deltafifo.Delta
		share  shard.Set
		after  []*corev1.Pod // comes back, in a share of everything
		want   []string
	}{
		"nothing pending":     {nil, pods("b"), nil, []string{"release a@1"}},
		"an update pending":   {[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "3"))}, pods("b"), nil, []string{"release a@3"}},
		"an addition pending": {[]deltafifo.Delta{deltaOf(deltafifo.Added, kit.Pod("c", "3"))}, pods("a", "b"), nil, nil},
		"deleted and created anew": {
			[]deltafifo.Delta{deltaOf(deltafifo.Deleted, kit.Pod("a", "3")), deltaOf(deltafifo.Added, kit.Pod("a", "4", another))},
			pods("a", "b"), nil, []string{"lost a@1"},
		},
		"replaced by another one": {
			[]deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "4", another))}, pods("a", "b"), nil, []string{"lost a@1"},
		},
		"it comes back":                {nil, pods("b"), []*corev1.Pod{kit.Pod("a", "5")}, []string{"update a@1 a@5"}},
		"it comes back as another one": {nil, pods("b"), []*corev1.Pod{kit.Pod("a", "5", another)}, []string{"lost a@1", "add a@5"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f, h, reshard := stuckWithShare(t)
				f.apply(row.before...)
				reshard(row.share)
				if row.after != nil {
					reshard(shard.Whole(shard.ByUID))
					f.list("10", append(row.after, kit.Pod("b", "2"))...)
				}
				h.open()
				require.Equal(t, row.want, h.take())
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
				w.run.share = reflector.NewShare(row.share)
				for word := range strings.FieldsSeq(row.words) {
					w.says(word)
				}
				require.Equal(t, row.holds, w.holds())
				row.counts.Linked = true
				require.Equal(t, row.counts, w.Status().OwnWrites)
				if row.counts.Doubtful == 0 {
					require.NoError(t, w.WaitWritten(t.Context()))
				}
			})
		})
	}
}

// The fences of what is released end before: what they have confirmed does not come back.
func TestFencesOfReleasedObjects(t *testing.T) {
	for words, told := range map[string]string{
		"a+5 a!7":     "add p@5, update p@5 p@7",
		"a!7":         "add p@7",
		"a+5 a0":      "add p@5, delete p@5",
		"a+5 a0 a+6":  "add p@5, delete p@5",
		"a+5 a~7 a+6": "add p@5, delete p@5",
	} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWritingOf(t, Options[*corev1.Pod]{}, 1)
				for word := range strings.FieldsSeq(words) {
					w.says(word)
				}
				require.Equal(t, 1, w.Status().OwnWrites.Pending)
				w.run.share = reflector.NewShare(pods("q"))
				w.reshard(w.run)
				require.Zero(t, w.Status().OwnWrites.Pending)
				require.Empty(t, w.holds())
				w.says("a^9")
				w.answer(0, ownwrites.Answer{Kind: ownwrites.Dated, Version: "9"})
				require.Empty(t, w.holds(), "what the watch has brought does not come back")
				require.Equal(t, told, strings.ReplaceAll(strings.Join(w.told.Take(), ", "), "delete p@7", "delete p@5"))
				require.Zero(t, w.Status().OwnWrites.Ghosts)
			})
		})
	}
}

// A fence of the share that has confirmed an object outside of it forgets that object.
func TestAFenceForgetsAReleasedObject(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWritingOf(t, Options[*corev1.Pod]{}, 1)
		before := kit.Pod("p", "5", kit.UID("before"))
		w.tell(0, deltaOf(deltafifo.Modified, before))
		w.says("a!7")
		w.run.share = reflector.NewShare(pods("p"))
		w.reshard(w.run)
		require.Equal(t, "a@7", w.holds())
		require.Equal(t, 1, w.Status().OwnWrites.Pending)
		w.says("a^9")
		require.Empty(t, w.holds(), "the pod before is not in the share")
	})
}

// With packed objects, nothing is decoded but for handlers that are told of what is released.
func TestAReleaseDecodesNothing(t *testing.T) {
	unverified(t)
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, packedCold(), 1)
		released := 0
		var keys, told kit.Recorder
		for _, r := range []receiver{&keyReceiver{handle: func(k indexer.Key) { keys.Add(k.Name, k) }}, newClientgoReceiver(told.Handler(), nil)} {
			require.NoError(t, f.addHandler(f.registration(r, HandlerOptions{}, nil), true))
		}
		f.register(Funcs[*corev1.Pod]{Deleted: func(*corev1.Pod) {}}, HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
		synctest.Wait()
		before := f.Status().Storage.Decodes
		f.run.share = reflector.NewShare(pods("a", "b"))
		f.reshard(f.run)
		synctest.Wait()
		require.Equal(t, before, f.Status().Storage.Decodes)
		require.Len(t, told.Take(), 3)
		require.Len(t, keys.Take(), 3)
		f.register(Funcs[*corev1.Pod]{Released: func(*corev1.Pod) { released++ }}, HandlerOptions{})
		synctest.Wait()
		f.run.share = reflector.NewShare(pods("a"))
		f.reshard(f.run)
		synctest.Wait()
		require.Equal(t, 1, released)
		require.Equal(t, before+1, f.Status().Storage.Decodes)
	})
}

// What cannot have a share is refused by Run.
func TestInformersWithoutAShare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		byNamespace := shard.Static(shard.Whole(shard.ByNamespace))
		two := Join([]reflector.Source{newScript("1"), newScript("1")}, Options[*corev1.Pod]{Shard: byNamespace, Observe: observed})
		require.ErrorIs(t, two.Run(t.Context()), ErrSharded)
		require.ErrorIs(t, two.WaitSynced(t.Context()), ErrSharded)

		one := New(inNamespace{newScript("1"), "shop"}, Options[*corev1.Pod]{Shard: byNamespace, Observe: observed})
		err := one.Run(t.Context())
		require.ErrorIs(t, err, ErrSharded)
		require.ErrorContains(t, err, "namespace shop")
		require.ErrorIs(t, one.WaitSynced(t.Context()), ErrStopped)
		require.ErrorIs(t, one.Status().LastError, ErrSharded)
		lists, watches := one.core.sources[0].(inNamespace).Requests()
		require.Zero(t, lists+watches, "no request was sent")
		start(t, New(inNamespace{newScript("1"), "shop"}, Options[*corev1.Pod]{Shard: shard.Static(shard.Whole(shard.ByUID)), Observe: observed}))

		none := New(newScript("1"), Options[*corev1.Pod]{Shard: shard.Static(shard.Set{}), Observe: observed})
		require.ErrorIs(t, none.Run(t.Context()), shard.ErrField)
		require.ErrorIs(t, none.WaitSynced(t.Context()), shard.ErrField)
		wait, err := none.Start(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, none.WaitFresh(t.Context()), shard.ErrField)
		require.ErrorIs(t, wait(), shard.ErrField)

		bad := New(newScript("1"), Options[*corev1.Pod]{Shard: badAssignment{}, Observe: observed})
		require.ErrorIs(t, bad.Run(t.Context()), ErrNoKinds)
		require.ErrorIs(t, bad.WaitSynced(t.Context()), ErrNoKinds)
	})
}

// A run whose share has no field ends at once, and takes nothing out of the store. The next one reads its share again.
func TestARunWithAnUnusableShare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newSharded(t, newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{}, pods("a"))
		j := &journal{}
		_, err := x.i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		x.start()
		require.Equal(t, []string{"initial a@1"}, j.take())
		x.stop()
		foreign := x.i.Status().Shard.Foreign
		require.NotZero(t, foreign)
		x.turn(shard.Set{})
		wait, err := x.i.Start(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, wait(), shard.ErrField)
		require.ErrorIs(t, x.i.Status().LastError, shard.ErrField)
		require.Equal(t, ShardStatus{Foreign: foreign}, x.i.Status().Shard)
		require.Equal(t, "a", x.stored())
		require.Empty(t, j.take())
		x.turn(pods("b"))
		x.start()
		require.Equal(t, []string{"release a@1", "add b@2"}, j.take())
		require.Equal(t, 2*foreign, x.i.Status().Shard.Foreign)
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

// badAssignment is what a factory makes of an Assignment without kinds.
type badAssignment struct{ shard.Assignment }

func (badAssignment) Unusable(shard.Field) error { return ErrNoKinds }

// Fill leaves out what is outside of the share.
func TestFillLeavesOutForeignObjects(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newSharded(t, newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{}, pods("a"))
		require.NoError(t, x.i.Fill(State[*corev1.Pod]{Version: "9", Objects: []*corev1.Pod{kit.Pod("a", "1"), kit.Pod("b", "2")}}))
		j := &journal{}
		_, err := x.i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		x.start()
		require.Equal(t, []string{"initial a@1"}, j.take())
		require.Equal(t, "a", x.stored())
	})
}
