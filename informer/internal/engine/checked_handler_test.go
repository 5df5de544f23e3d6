package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// checkedHandler is a handler that checks whether its changes are consistent and add up to the store. It
// sleeps and panics at random.
type checkedHandler struct {
	t        *testing.T
	name     string
	delivery informer.Delivery
	rand     *rand.Rand
	slow     time.Duration
	clumsy   bool
	joined   bool // added when the informer was synced: all initial adds come first
	reg      informer.Registration

	checker kit.Checker[*corev1.Pod]
	calls   atomic.Int64
	busy    atomic.Bool
	last    uint64 // the highest version delivered, with Every delivery
	news    bool   // a change that is not initial was delivered
}

func newCheckedHandler(t *testing.T, name string, delivery informer.Delivery, r *rand.Rand) *checkedHandler {
	return &checkedHandler{
		t: t, name: name, delivery: delivery, rand: r,
		checker: kit.Checker[*corev1.Pod]{Name: name, Merged: delivery == informer.Latest, AnyOrder: true, AnyUID: true, Unknown: true},
	}
}

func (f *checkedHandler) Handle(c informer.Change[*corev1.Pod]) {
	if !f.busy.CompareAndSwap(false, true) {
		f.t.Errorf("%s: two calls at a time", f.name)
	}
	defer f.busy.Store(false)
	f.calls.Add(1)
	f.check(c)
	if f.slow > 0 && f.rand.IntN(4) == 0 {
		time.Sleep(time.Duration(f.rand.Int64N(int64(f.slow))))
	}
	if f.clumsy && f.rand.IntN(20) == 0 {
		panic("clumsy")
	}
}

func (f *checkedHandler) check(c informer.Change[*corev1.Pod]) {
	f.checker.Check(kit.Change[*corev1.Pod]{Kind: c.Kind.String(), Old: c.Old, New: c.New, Initial: c.Initial, Lost: c.Lost})
	if c.Initial && f.news && f.joined {
		f.t.Errorf("%s (%v): an initial add after news: %s", f.name, f.delivery, rig.Line(c))
	}
	f.news = f.news || !c.Initial
	f.order(c)
}

// order checks that versions do not go back. handlerHistory numbers its changes; the objects of its
// lists may be old.
func (f *checkedHandler) order(c informer.Change[*corev1.Pod]) {
	if f.delivery != informer.Every || c.Initial || c.Old == c.New || c.Lost {
		return
	}
	p := c.New
	if p == nil {
		p = c.Old
	}
	n, _ := strconv.ParseUint(p.ResourceVersion, 10, 64)
	if n < f.last && p.Labels["listed"] == "" {
		f.t.Errorf("%s: %s after version %d", f.name, rig.Line(c), f.last)
	}
	if p.Labels["listed"] == "" {
		f.last = n
	}
}

// handlerHistory is a random history of a core with handlers that come and go.
type handlerHistory struct {
	*testCore
	rand     *rand.Rand
	sources  int
	serial   int
	objects  map[indexer.Key]*corev1.Pod // what the sources hold
	owner    map[indexer.Key]uint16
	listed   []bool // the sources that have been listed
	handlers []*checkedHandler
	joined   int
}

func newHandlerHistory(t *testing.T, r *rand.Rand, o informer.Options[*corev1.Pod]) *handlerHistory {
	l := &handlerHistory{
		rand: r, sources: 1 + r.IntN(3),
		objects: map[indexer.Key]*corev1.Pod{}, owner: map[indexer.Key]uint16{},
	}
	l.testCore = newTestCore(t, o, l.sources)
	l.listed = make([]bool, l.sources)
	return l
}

func (l *handlerHistory) anySource() uint16 { return uint16(l.rand.IntN(l.sources)) } //nolint:gosec // few

// pod makes the next version of a random pod of a source.
func (l *handlerHistory) pod(source uint16, options ...func(*corev1.Pod)) *corev1.Pod {
	l.serial++
	name := fmt.Sprint("p", source, "-", l.rand.IntN(12))
	if p := l.objects[rig.Named(name)]; p != nil && l.rand.IntN(8) > 0 {
		options = append(options, kit.UID(string(p.UID)))
	} else if l.rand.IntN(2) == 0 { // otherwise its first UID comes back
		options = append(options, kit.UID(fmt.Sprint("uid-", l.serial)))
	}
	return kit.Pod(name, fmt.Sprint(l.serial), options...)
}

// list applies a replacement of one source, mostly with the objects that are there already. Changes
// of other sources may come in between, and the replacement may be aborted.
func (l *handlerHistory) list(source uint16) {
	l.apply(deltafifo.Delta{Op: deltafifo.Begin, Source: source})
	next := map[indexer.Key]*corev1.Pod{}
	for key, p := range l.objects {
		if l.owner[key] == source && l.rand.IntN(10) > 0 {
			next[key] = p
		}
	}
	for range l.rand.IntN(5) {
		p := l.pod(source, kit.Label("listed", "yes"))
		key, _ := object.KeyOf(p)
		next[key] = p
	}
	for _, p := range next {
		if l.rand.IntN(5) == 0 && l.sources > 1 {
			l.changes(func(other uint16) bool { return other != source })
		}
		d := deltaOf(deltafifo.Added, p)
		d.Source = source
		if stored := l.objects[d.Key]; stored == p { // an equal copy, as a server sends it
			d.Object = p.DeepCopy()
		}
		l.apply(d)
	}
	if l.rand.IntN(6) == 0 {
		l.apply(deltafifo.Delta{Op: deltafifo.Abort, Source: source})
		return
	}
	l.serial++
	l.apply(deltafifo.Delta{Op: deltafifo.Commit, Source: source, Version: fmt.Sprint(l.serial)})
	for key := range l.objects {
		if l.owner[key] == source {
			delete(l.objects, key)
		}
	}
	for key, p := range next {
		l.objects[key], l.owner[key] = p, source
	}
	l.listed[source] = true
}

// changes applies some single changes of sources that have been listed.
func (l *handlerHistory) changes(of func(source uint16) bool) {
	var deltas []deltafifo.Delta
	for range 1 + l.rand.IntN(8) {
		source := l.anySource()
		if !l.listed[source] || !of(source) {
			continue
		}
		p := l.pod(source)
		d := deltaOf(deltafifo.Modified, p)
		d.Source = source
		switch l.rand.IntN(4) {
		case 0:
			d.Op = deltafifo.Deleted
			delete(l.objects, d.Key)
		case 1:
			d.Op = deltafifo.Added
			fallthrough
		default:
			l.objects[d.Key], l.owner[d.Key] = p, source
		}
		deltas = append(deltas, d)
	}
	l.apply(deltas...)
}

func (l *handlerHistory) register() {
	l.joined++
	r := rand.New(rand.NewPCG(l.rand.Uint64(), 1))                                               //nolint:gosec // a test
	f := newCheckedHandler(l.t, fmt.Sprint("h", l.joined), informer.Delivery(l.rand.IntN(2)), r) //nolint:gosec // 0 or 1
	f.clumsy, f.joined = l.rand.IntN(3) == 0, l.IsSynced()
	o := informer.HandlerOptions{Name: f.name, Delivery: f.delivery}
	if l.rand.IntN(3) == 0 {
		f.slow = 100 * time.Millisecond
	}
	if l.rand.IntN(3) == 0 {
		o.Resync = time.Duration(1+l.rand.IntN(5)) * time.Second
	}
	f.reg = l.testCore.register(f, o)
	l.handlers = append(l.handlers, f)
}

func (l *handlerHistory) leaves() {
	if len(l.handlers) == 0 {
		return
	}
	n := l.rand.IntN(len(l.handlers))
	f := l.handlers[n]
	l.handlers = append(l.handlers[:n], l.handlers[n+1:]...)
	f.reg.Stop()
	<-f.reg.Done()
	calls := f.calls.Load()
	l.changes(func(uint16) bool { return true })
	synctest.Wait()
	require.Equal(l.t, calls, f.calls.Load(), "%s was called after its removal", f.name)
	require.Empty(l.t, f.checker.Problems())
}

func (l *handlerHistory) step() {
	switch n := l.rand.IntN(100); {
	case n < 60:
		l.changes(func(uint16) bool { return true })
	case n < 68:
		l.list(l.anySource())
	case n < 74:
		l.register()
	case n < 77:
		l.leaves()
	case n < 80:
		for range 300 { // more than a segment
			l.changes(func(uint16) bool { return true })
		}
	case n < 90:
		time.Sleep(time.Duration(l.rand.IntN(2000)) * time.Millisecond)
	default:
		l.rest()
	}
}

// rest waits until the handlers are idle, and then checks the store and every handler.
func (l *handlerHistory) rest() {
	for range 100_000 {
		synctest.Wait()
		waiting := false
		for _, f := range l.handlers {
			waiting = waiting || f.busy.Load() || f.reg.Backlog() != 0
		}
		if !waiting {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	x := podsIn(l.Core)
	require.Equal(l.t, len(l.objects), x.Len())
	for key, p := range l.objects {
		got, ok := x.Get(key)
		require.True(l.t, ok)
		require.Equal(l.t, p.ResourceVersion, got.ResourceVersion)
		require.Equal(l.t, p.UID, got.UID)
	}
	synced := true
	for _, listed := range l.listed {
		synced = synced && listed
	}
	require.Equal(l.t, synced, l.IsSynced())
	for _, f := range l.handlers {
		require.Zero(l.t, f.reg.Backlog(), "%s at rest", f.name)
		require.Equal(l.t, synced, kit.Closed(f.reg.Synced()), f.name)
		f.compare(x)
	}
}

// compare checks that the handler's changes were consistent and add up to the store.
func (f *checkedHandler) compare(x *indexer.Indexer[*corev1.Pod]) {
	require.Empty(f.t, f.checker.Problems())
	require.NoError(f.t, f.checker.Differs(x.All()))
}

// The changes that a handler gets add up to the store, whenever it is added and however slow it is.
func TestHandlersFoldToTheStore(t *testing.T) {
	kit.SurvivePanics(t)
	seeds := uint64(40)
	if tier.Raced() && !tier.Long() {
		seeds = 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newHandlerHistory(t, rand.New(rand.NewPCG(seed, 5)), informer.Options[*corev1.Pod]{})
				l.register()
				l.start()
				for range 120 {
					l.step()
					if t.Failed() {
						return
					}
				}
				l.rest()
			})
		})
	}
}

// The changes that each handler gets add up to the store, in random histories.
func FuzzHandlers(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		kit.SurvivePanics(t)
		synctest.Test(t, func(t *testing.T) {
			l := newHandlerHistory(t, r, informer.Options[*corev1.Pod]{})
			l.register()
			l.start()
			for more() && !t.Failed() {
				l.step()
			}
			l.rest()
		})
	})
}
