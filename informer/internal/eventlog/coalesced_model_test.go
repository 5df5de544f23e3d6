package eventlog

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

// model is a slow equivalent of Coalesced. It has all pending events in order, and the objects that the
// handler has seen.
type model struct {
	events []Event
	seen   map[string]*corev1.Pod
}

// now returns the current state of each object with pending events, or nil for a deleted object. It leaves
// out objects that were added and deleted unseen.
func (m *model) now() map[string]*corev1.Pod {
	now := map[string]*corev1.Pod{}
	for _, e := range m.events {
		name := nameIn(e)
		if now[name] = podIn(e.New); e.Kind == Deleted {
			now[name] = nil
		}
	}
	for name, p := range now {
		if p == nil && m.seen[name] == nil {
			delete(now, name)
		}
	}
	return now
}

// first returns the name of the object to deliver next: the object of the oldest pending event that still
// counts.
func (m *model) first() (string, bool) {
	now, voided := m.now(), map[string]int{} // the events before this index cancel out
	for i, e := range m.events {
		if e.Kind == Deleted && !e.Is(Recreated) && m.seen[nameIn(e)] == nil {
			voided[nameIn(e)] = i + 1
		}
	}
	for i, e := range m.events {
		if _, ok := now[nameIn(e)]; ok && i >= voided[nameIn(e)] {
			return nameIn(e), true
		}
	}
	return "", false
}

// recorded drops the pending events of an object after their delivery.
func (m *model) recorded(name string) {
	now := m.now()[name]
	kept := m.events[:0:0]
	for _, e := range m.events {
		if nameIn(e) != name {
			kept = append(kept, e)
		}
	}
	m.events = kept
	if m.seen[name] = now; now == nil {
		delete(m.seen, name)
	}
}

// end returns the end of the object that the handler has seen: its last delete, unless another object came
// later.
func (m *model) end(seen *corev1.Pod) Flags {
	var last Event
	for _, e := range m.events {
		if nameIn(e) == seen.Name {
			last = e
		}
	}
	if podIn(last.Old).UID != seen.UID {
		return Lost
	}
	return last.Flags & Lost
}

func podIn(obj any) *corev1.Pod {
	p, _ := obj.(*corev1.Pod)
	return p
}

func nameIn(e Event) string {
	id, _ := e.identity()
	return id.Key.Name
}

// twins has a log with a cursor and a table, the model of the table, and the store whose changes become
// events.
type twins struct {
	t      *testing.T
	rand   *rand.Rand
	twin   *model
	store  map[string]*corev1.Pod
	gone   map[string]types.UID // of the last object of each name that has left the store
	log    *Log
	cursor Cursor
	table  Coalesced
	n      int
}

func newTwins(t *testing.T, r *rand.Rand) *twins {
	log := New()
	return &twins{
		t: t, rand: r, log: log, cursor: log.Published(),
		twin: &model{seen: map[string]*corev1.Pod{}}, store: map[string]*corev1.Pod{}, gone: map[string]types.UID{},
	}
}

func (w *twins) step() {
	if w.rand.IntN(3) > 0 {
		w.change(fmt.Sprint("p", w.rand.IntN(6)))
	} else {
		w.pop()
	}
	w.table.Check()
	require.Equal(w.t, len(w.twin.now()), w.table.Len())
	require.LessOrEqual(w.t, len(w.table.order), 4*6+2*firstSegment+4, "what came and went leaves nothing")
	position, ok := w.table.Oldest()
	require.Equal(w.t, w.table.Len() > 0, ok)
	require.LessOrEqual(w.t, position, w.log.End())
}

// change makes the next change of an object, and merges its events into the table.
func (w *twins) change(name string) {
	w.n++
	old, fresh := w.store[name], pod(name, fmt.Sprint(w.n), fmt.Sprint(w.n))
	var events []Event
	switch {
	case old == nil:
		if uid := w.gone[name]; uid != "" && w.rand.IntN(3) == 0 {
			fresh.UID = uid
		}
		e := add(fresh)
		if w.rand.IntN(2) == 0 {
			e.Flags = Initial
		}
		events = []Event{e}
	case w.rand.IntN(3) == 0:
		events = []Event{remove(pod(name, string(old.UID), fmt.Sprint(w.n)), old)}
	case w.rand.IntN(4) == 0:
		events = recreate(old, fresh)
	default:
		fresh.UID = old.UID
		events = []Event{update(old, fresh)}
	}
	last := events[len(events)-1]
	if w.store[name] = podIn(last.New); last.Kind == Deleted {
		delete(w.store, name)
		w.gone[name] = old.UID
	}
	w.twin.events = append(w.twin.events, events...)
	for _, e := range events {
		w.log.Append(e)
	}
	w.log.Publish()
	w.cursor.Merge(&w.table, w.log.End())
}

// pop takes the next events from the table, and compares them with the model.
func (w *twins) pop() {
	name, ok := w.twin.first()
	b := NewBatch(1)
	_, some := w.table.Pop(b)
	require.Equal(w.t, ok, some)
	if !ok {
		return
	}
	var recorded []Event
	for b.Left() > 0 {
		p, h, _ := b.Next()
		recorded = append(recorded, Event{*p, h})
	}
	require.Equal(w.t, name, nameIn(recorded[len(recorded)-1]), "in the order of their first pending events")
	w.check(recorded, w.twin.seen[name], w.twin.now()[name])
	w.twin.recorded(name)
}

// check requires the events that lead from the version that the handler has seen to the current version.
func (w *twins) check(recorded []Event, seen, now *corev1.Pod) {
	e := recorded[len(recorded)-1]
	switch {
	case seen == nil:
		require.Len(w.t, recorded, 1)
		require.Equal(w.t, Added, e.Kind)
		require.Same(w.t, now, e.New)
		require.Nil(w.t, e.Old)
	case now == nil:
		require.Len(w.t, recorded, 1)
		require.Equal(w.t, Deleted, e.Kind)
		require.Equal(w.t, seen.UID, podIn(e.Old).UID, "of the object that it has seen")
		require.Equal(w.t, w.twin.end(seen), e.Flags&Lost)
	case seen.UID != now.UID:
		require.Equal(w.t, recreate(seen, now), recorded)
	default:
		require.Equal(w.t, []Event{update(seen, now)}, recorded, "from what it has seen last")
	}
}

func TestTheTableAgainstItsTwin(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newTwins(t, rand.New(rand.NewPCG(seed, 9)))
			for range 300 {
				w.step()
			}
			w.end()
		})
	}
}

// end delivers everything that is pending.
func (w *twins) end() {
	for len(w.twin.now()) > 0 {
		w.pop()
	}
	require.Empty(w.t, popped(&w.table))
	require.Equal(w.t, w.store, w.twin.seen, "it ends at what is stored")
}

func FuzzCoalesced(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		w := newTwins(t, r)
		for more() {
			w.step()
		}
		w.end()
	})
}
