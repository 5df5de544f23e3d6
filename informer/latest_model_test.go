package informer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// replayed is the slow, obvious twin of the table of Latest: all events that
// are pending, in order, and what the handler knows.
type replayed struct {
	events []event
	known  map[indexer.Key]*corev1.Pod // what the handler was told last
}

// pending returns what each object with pending events is now, nil for gone;
// without those that came and went.
func (m *replayed) pending() map[indexer.Key]*corev1.Pod {
	now := map[indexer.Key]*corev1.Pod{}
	for i := range m.events {
		key := keyIn(&m.events[i])
		if now[key] = podIn(m.events[i].new); m.events[i].kind == Deleted {
			now[key] = nil
		}
	}
	for key, p := range now {
		if p == nil && m.known[key] == nil {
			delete(now, key)
		}
	}
	return now
}

// first returns the object to be told first: that of the oldest event which is
// not void.
func (m *replayed) first() (indexer.Key, bool) {
	pending := m.pending()
	voided := map[indexer.Key]int{} // up to which event an object came and went
	there := map[indexer.Key]bool{}
	for key := range m.known {
		there[key] = true
	}
	for i := range m.events {
		e := &m.events[i]
		key := keyIn(e)
		if e.kind == Deleted && m.known[key] == nil {
			voided[key] = i + 1
		}
	}
	for i := range m.events {
		key := keyIn(&m.events[i])
		if _, ok := pending[key]; ok && i >= voided[key] {
			return key, true
		}
	}
	return indexer.Key{}, false
}

// told drops the pending events of an object, which the handler knows now.
func (m *replayed) told(key indexer.Key) {
	now := m.pending()[key]
	kept := m.events[:0:0]
	for _, e := range m.events {
		if keyIn(&e) != key {
			kept = append(kept, e)
		}
	}
	m.events = kept
	if m.known[key] = now; now == nil {
		delete(m.known, key)
	}
}

func podIn(obj any) *corev1.Pod {
	p, _ := obj.(*corev1.Pod)
	return p
}

func keyIn(e *event) indexer.Key {
	n, _ := e.read()
	return n.key
}

// latestTwins are a table of Latest and its twin, and the store that the
// events come from.
type latestTwins struct {
	t        *testing.T
	rand     *rand.Rand
	twin     *replayed
	store    map[indexer.Key]*corev1.Pod
	table    latest
	position uint64
}

func newLatestTwins(t *testing.T, r *rand.Rand) *latestTwins {
	return &latestTwins{
		t: t, rand: r,
		twin: &replayed{known: map[indexer.Key]*corev1.Pod{}}, store: map[indexer.Key]*corev1.Pod{},
	}
}

func (w *latestTwins) step() {
	if w.rand.IntN(3) > 0 {
		key := named(fmt.Sprint("p", w.rand.IntN(6)))
		w.twin.events = append(w.twin.events, foldOne(w.rand, &w.table, w.store, key, w.position))
	} else {
		popOne(w.t, &w.table, w.twin)
	}
	w.table.check()
	require.Len(w.t, w.table.byKey, len(w.twin.pending()))
	require.LessOrEqual(w.t, len(w.table.order), 4*6+2*firstSegment+4, "what came and went leaves nothing")
	position, ok := w.table.oldest()
	require.Equal(w.t, len(w.table.byKey) > 0, ok)
	require.LessOrEqual(w.t, position, w.position)
	w.position++
}

// end tells all that is pending.
func (w *latestTwins) end() {
	for len(w.twin.pending()) > 0 {
		popOne(w.t, &w.table, w.twin)
	}
	require.Nil(w.t, w.table.pop())
	require.Equal(w.t, w.store, w.twin.known, "it ends at what is stored")
}

func TestLatestAgainstItsTwin(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newLatestTwins(t, rand.New(rand.NewPCG(seed, 9)))
			for range 300 {
				w.step()
			}
			w.end()
		})
	}
}

// What came during a resync that did not get far follows what came before.
func TestATableThatFollowsAnother(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newLatestTwins(t, rand.New(rand.NewPCG(seed, 10)))
			for range 10 {
				w.follow(20)
			}
		})
	}
}

// follow folds some events into the table and as many into another, which then
// follows.
func (w *latestTwins) follow(events int) {
	var later latest
	for _, table := range []*latest{&w.table, &later} {
		for range events {
			key := named(fmt.Sprint("p", w.rand.IntN(12)))
			w.twin.events = append(w.twin.events, foldOne(w.rand, table, w.store, key, w.position))
			w.position++
		}
	}
	w.table.follow(&later)
	w.table.check()
	require.Len(w.t, w.table.byKey, len(w.twin.pending()))
	for p := w.table.pop(); p != nil; p = w.table.pop() {
		tell(w.t, p, w.twin)
	}
	require.Equal(w.t, w.store, w.twin.known, "it ends at what is stored")
}

// foldOne makes the next event of an object and folds it.
func foldOne(r *rand.Rand, l *latest, store map[indexer.Key]*corev1.Pod, key indexer.Key, n uint64) event {
	old := store[key]
	e := event{pair{old: old, new: pod(key.Name, fmt.Sprint(n), uid(fmt.Sprint(n)))}, header{kind: Updated}}
	switch {
	case old == nil:
		e.kind = Added
		if r.IntN(2) == 0 {
			e.flags = flagInitial
		}
	case r.IntN(3) == 0:
		e.kind, e.old, e.new = Deleted, pod(key.Name, fmt.Sprint(n), uid(string(old.UID))), old
	case r.IntN(4) == 0:
		e.flags = flagRecreated
	default:
		podIn(e.new).UID = old.UID
	}
	if store[key] = podIn(e.new); e.kind == Deleted {
		delete(store, key)
	}
	about, _ := e.read()
	l.fold(e, about, n)
	if r.IntN(10) == 0 { // a delete of something unknown is not told
		l.fold(event{pair{old: pod("unknown", "1")}, header{kind: Deleted, flags: flagUnknown}}, note{key: named("unknown")}, n)
	}
	return e
}

// popOne takes what is to be told first, and holds it against the twin.
func popOne(t *testing.T, l *latest, m *replayed) {
	key, ok := m.first()
	p := l.pop()
	require.Equal(t, ok, p != nil)
	if !ok {
		return
	}
	require.Equal(t, key, p.key, "in the order of their first pending events")
	tell(t, p, m)
}

// tell holds what is told of an object against the twin.
func tell(t *testing.T, p *pending, m *replayed) {
	key := p.key
	before, now := m.known[key], m.pending()[key]
	switch {
	case before == nil:
		require.Equal(t, Added, p.event.kind)
		require.Same(t, now, p.event.new)
		require.Nil(t, p.event.old)
	case now == nil:
		require.Equal(t, Deleted, p.event.kind)
		require.Equal(t, before.UID, change[*corev1.Pod](&p.event.pair, p.event.header).Old.UID, "of the object that it knows")
	default:
		require.Equal(t, Updated, p.event.kind)
		require.Same(t, before, p.event.old, "from what it saw last")
		require.Same(t, now, p.event.new)
		require.Equal(t, before.UID != now.UID, p.event.is(flagRecreated))
		require.False(t, p.event.is(flagInitial))
	}
	m.told(key)
}

// The initial flag stays with a merged add.
func TestAMergedAddKeepsItsInitialFlag(t *testing.T) {
	var l latest
	a1, a2 := pod("a", "1"), pod("a", "2")
	l.fold(event{pair{new: a1}, header{kind: Added, flags: flagInitial}}, note{key: named("a")}, 0)
	l.fold(event{pair{old: a1, new: a2}, header{kind: Updated}}, note{key: named("a")}, 1)
	p := l.pop()
	require.Equal(t, Change[*corev1.Pod]{Kind: Added, New: a2, Initial: true}, change[*corev1.Pod](&p.event.pair, p.event.header))
}

func TestObjectsThatComeAndGoLeaveNothing(t *testing.T) {
	var l latest
	stays := pod("stays", "1")
	l.fold(event{pair{new: stays}, header{kind: Added}}, note{key: named("stays")}, 0)
	for n := range uint64(10_000) {
		p := pod(fmt.Sprint("p", n), "1")
		l.fold(event{pair{new: p}, header{kind: Added}}, note{key: named(p.Name)}, n)
		l.fold(event{pair{old: p, new: p}, header{kind: Deleted}}, note{key: named(p.Name)}, n)
	}
	require.LessOrEqual(t, len(l.order), 4*firstSegment)
	require.Len(t, l.byKey, 1)
	require.Same(t, stays, l.pop().event.new)
	require.Nil(t, l.pop())
}

func TestNamesOfKinds(t *testing.T) {
	require.Equal(t, "added updated deleted unknown",
		fmt.Sprint(Added, " ", Updated, " ", Deleted, " ", Kind(0)))
}
