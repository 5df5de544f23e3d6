package eventlog

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// addsOf returns the adds of n pods, numbered from first.
func addsOf(first, n int) (events []Event) {
	for i := first; i < first+n; i++ {
		events = append(events, add(pod(fmt.Sprint("p", i), "1", "1")))
	}
	return events
}

func appendAll(l *Log, events ...Event) {
	for _, e := range events {
		l.Append(e)
	}
}

// takeAll takes all published events, up to atOnce at a time.
func takeAll(c *Cursor, atOnce int) (events []Event) {
	b := NewBatch(atOnce)
	for c.Take(b, math.MaxUint64) {
		for b.Left() > 0 {
			p, h, _ := b.Next()
			events = append(events, Event{*p, h})
		}
		b.Empty()
	}
	return events
}

// The segments of a log double in size until they are full segments.
func TestSegmentsGrow(t *testing.T) {
	l := New()
	require.Equal(t, firstSegment, l.tail.size())
	first, bases, sizes := l.tail, []uint64{}, []int{}
	all := addsOf(0, 1000)
	for i, e := range all {
		l.Append(e)
		last := i == 7 || i == 8+16-1 || i == len(all)-1
		before := l.last.Load() != l.tail
		if i%3 == 0 || last {
			require.Equal(t, before, l.Publish(), "event %d: it tells whether a segment was filled", i)
			require.Equal(t, uint64(i+1), l.End())
			require.Equal(t, l.End(), l.Published().Position())
		}
	}
	for s := first; s != nil; s = s.next.Load() {
		bases, sizes = append(bases, s.base), append(sizes, s.size())
	}
	require.Equal(t, []int{8, 16, 32, 64, 128, 256, 256, 256}, sizes)
	require.Equal(t, []uint64{0, 8, 24, 56, 120, 248, 504, 760}, bases)
	for _, atOnce := range []int{1, 7, 64, 256, 5000} {
		c := Cursor{segment: first}
		require.Equal(t, all, takeAll(&c, atOnce))
		require.Equal(t, l.End(), c.Position())
	}
}

// Appended events are taken only after Publish, from the current segment and from later ones.
func TestNothingShowsBeforePublish(t *testing.T) {
	for _, n := range []int{1, firstSegment, firstSegment + 1, 100} {
		l := New()
		c := l.Published()
		b := NewBatch(2 * n)
		events := addsOf(0, n)
		appendAll(l, events...)
		require.False(t, c.Take(b, math.MaxUint64))
		require.Zero(t, b.Left())
		var table Coalesced
		c.Merge(&table, math.MaxUint64)
		require.Zero(t, table.Len())
		require.Zero(t, l.End())
		require.Zero(t, c.Position())

		require.Equal(t, n > firstSegment, l.Publish())
		require.False(t, l.Publish(), "nothing is new")
		require.Equal(t, events, takeAll(&c, 2*n))
		require.False(t, c.Take(b, math.MaxUint64))

		appendAll(l, addsOf(n, 1)...)
		require.Empty(t, takeAll(&c, 2*n))
		l.Publish()
		require.Equal(t, addsOf(n, 1), takeAll(&c, 2*n))
	}
}

// A cursor at the published end takes the events that are published later.
func TestACursorBeginsAtThePublishedEnd(t *testing.T) {
	l := New()
	for i := range 600 {
		c := l.Published()
		require.Equal(t, uint64(i), c.Position())
		appendAll(l, addsOf(i, 1)...)
		l.Publish()
		require.Equal(t, addsOf(i, 1), takeAll(&c, 3))
	}
}

// Take and Merge stop at their limit, even if more events are published.
func TestALimit(t *testing.T) {
	l := New()
	begin := l.Published()
	all := addsOf(0, 100)
	appendAll(l, all...)
	l.Publish()
	for _, limit := range []uint64{0, 1, 5, 8, 9, 24, 99, 100, 200} {
		want := int(min(limit, 100)) //nolint:gosec // a few
		c, b := begin, NewBatch(300)
		require.Equal(t, want > 0, c.Take(b, limit))
		require.Equal(t, want, b.Left(), "across segments")
		require.Equal(t, uint64(want), c.Position()) //nolint:gosec // a few
		b.Empty()
		require.False(t, c.Take(b, limit))
		require.Equal(t, all[want:], append([]Event{}, takeAll(&c, 7)...))

		c = begin
		var table Coalesced
		c.Merge(&table, limit)
		require.Equal(t, want, table.Len())
		require.Equal(t, uint64(want), c.Position()) //nolint:gosec // a few
	}
}

// AppendAs stores an identity in addition to an event only if the event's objects have another identity or
// none.
func TestIdentitiesThatObjectsDoNotShow(t *testing.T) {
	disguised := add(pod("renamed", "", ""))
	recorded := object.Identity{Key: keyOf("a"), UID: "1", Version: "1"}
	for _, c := range []struct {
		name  string
		event Event
		id    object.Identity
		noted bool
	}{
		{"an add, as recorded", add(pod("a", "1", "1")), recorded, false},
		{"an update, by the present object", update(pod("x", "0", "0"), pod("a", "1", "1")), recorded, false},
		{"a delete, by its final state", remove(pod("a", "1", "1"), pod("x", "0", "0")), recorded, false},
		{"another key", disguised, object.Identity{Key: keyOf("a")}, true},
		{"another version", add(pod("a", "1", "0")), recorded, false},
		{"another UID", add(pod("a", "", "1")), recorded, true},
		{"no metadata", Event{Pair{New: "text"}, Header{Kind: Added}}, recorded, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := New()
			l.AppendAs(c.event, c.id)
			l.Append(add(pod("b", "2", "2")))
			l.Publish()
			s := l.tail
			require.Equal(t, c.noted, s.notes.Load() != nil)
			require.Equal(t, c.noted, s.headers[0].Is(noted))
			id := s.identity(0)
			require.Equal(t, c.id.Key, id.Key)
			require.Equal(t, c.id.UID, id.UID)
			require.Equal(t, object.Identity{Key: keyOf("b"), UID: "2"}, s.identity(1))
		})
	}
}

// Merge groups events by their keys, even if the objects show other keys.
func TestMergeGoesByTheNotes(t *testing.T) {
	l := New()
	c := l.Published()
	l.AppendAs(add(pod("renamed", "", "")), object.Identity{Key: keyOf("a"), UID: "1"})
	l.AppendAs(update(pod("renamed", "", ""), pod("renamed again", "", "")), object.Identity{Key: keyOf("a"), UID: "1"})
	l.Publish()
	var table Coalesced
	c.Merge(&table, l.End())
	require.Equal(t, 1, table.Len())
	require.Contains(t, table.byKey, keyOf("a"))
}

// ghosts has weak pointers to objects that should become garbage.
type ghosts []weak.Pointer[corev1.Pod]

func (g *ghosts) add(name string) Event {
	p := pod(name, "1", "1")
	*g = append(*g, weak.Make(p))
	return add(p)
}

// left returns how many of the objects are still in memory after some garbage collections.
func (g ghosts) left() (n int) {
	for range 20 {
		runtime.GC()
		n = 0
		for _, p := range g {
			if p.Value() != nil {
				n++
			}
		}
		if n == 0 {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
	return n
}

// Once all cursors are at the end, Clear releases the objects before it and keeps the objects after it.
func TestClearFreesWhatAllHaveRead(t *testing.T) {
	l := New()
	one, other := l.Published(), l.Published()
	b := NewBatch(8)
	var read, unread ghosts
	for n := range 3 {
		l.Append(read.add(fmt.Sprint(n)))
	}
	l.Publish()
	for n := range 2 {
		l.Append(unread.add(fmt.Sprint("unread", n)))
	}
	for _, c := range []*Cursor{&one, &other} {
		require.True(t, c.Take(b, math.MaxUint64))
		require.Equal(t, 3, b.Left())
		b.Empty()
	}
	require.Equal(t, 3, read.left(), "the log holds them")
	l.Clear(l.End())
	l.Clear(l.End())
	require.Zero(t, read.left())
	require.Equal(t, 2, unread.left())
	l.Publish()
	require.True(t, other.Take(b, math.MaxUint64))
	require.Equal(t, 2, b.Left())
	one = other
	l.Clear(l.End())
	require.Equal(t, 2, unread.left(), "the batch has copies, which are not cleared")
	for b.Left() > 0 {
		p, _, _ := b.Next()
		require.NotNil(t, p.New)
	}
	b.Empty()
	require.Zero(t, unread.left())
	runtime.KeepAlive(l)
	runtime.KeepAlive(one)
}

// Without cursors, Clear releases all published objects, in all segments.
func TestClearFreesEverything(t *testing.T) {
	for _, n := range []int{1, firstSegment, firstSegment + 1, 1000} {
		l := New()
		var all ghosts
		for i := range n {
			l.Append(all.add(fmt.Sprint(i)))
			if i%5 == 0 {
				l.Publish()
			}
		}
		l.Publish()
		l.Clear(l.End())
		require.Zero(t, all.left())
		c := l.Published()
		appendAll(l, addsOf(0, 3)...)
		l.Publish()
		require.Equal(t, addsOf(0, 3), takeAll(&c, 8), "a later reader gets later events")
		runtime.KeepAlive(l)
	}
}

// A cursor holds the objects that follow it, but no segment that it has passed. A dropped cursor holds
// nothing.
func TestACursorHoldsWhatFollowsIt(t *testing.T) {
	l := New()
	c := l.Published()
	var all ghosts
	for i := range 1000 {
		l.Append(all.add(fmt.Sprint(i)))
	}
	l.Publish()
	l.Clear(l.End())
	require.Greater(t, all.left(), 500)
	b := NewBatch(64)
	for c.Position() < 500 {
		require.True(t, c.Take(b, 500))
		b.Empty()
	}
	require.LessOrEqual(t, all.left(), 1000-248, "it is in the segment that begins at 248")
	c = Cursor{}
	require.Zero(t, all.left())
	runtime.KeepAlive(l)
	runtime.KeepAlive(c)
}
