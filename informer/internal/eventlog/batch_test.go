package eventlog

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A batch takes at most as many events as Limit says.
func TestABatchTakesSomeAtOnce(t *testing.T) {
	l := New()
	c := l.Published()
	all := addsOf(0, 40)
	appendAll(l, all...)
	l.Publish()
	b := NewBatch(30)
	b.Limit(5)
	for range 4 {
		require.True(t, c.Take(b, math.MaxUint64))
		require.Equal(t, 5, b.Left())
		require.True(t, b.Full())
		b.Next()
		b.Skip(2)
		require.Equal(t, 2, b.Left())
		b.Skip(0)
		require.Zero(t, b.Left())
		b.Empty()
		require.False(t, b.Full())
	}
	b.Limit(30)
	require.True(t, c.Take(b, math.MaxUint64))
	require.Equal(t, 20, b.Left(), "all there is")
	p, h, key := b.Next()
	require.Equal(t, all[20], Event{*p, h})
	require.Nil(t, key)
}

// A batch grows to the number of events that it takes, and not to its limit.
func TestABatchGrows(t *testing.T) {
	l := New()
	c := l.Published()
	all := addsOf(0, 1000)
	b := NewBatch(2)
	b.Limit(math.MaxInt)
	appendAll(l, all[:2]...)
	l.Publish()
	require.True(t, c.Take(b, math.MaxUint64))
	require.Equal(t, 2, b.Room())
	b.Empty()
	appendAll(l, all[2:]...)
	l.Publish()
	require.True(t, c.Take(b, math.MaxUint64))
	require.Equal(t, 998, b.Left())
	require.Equal(t, 998, b.Room())
	for _, want := range all[2:] {
		p, h, _ := b.Next()
		require.Equal(t, want, Event{*p, h})
	}
	b.Empty()
	for _, e := range all {
		b.Add(e)
	}
	require.Equal(t, 1000, b.Left())
}

// A batch holds a key for each event that comes with its key.
func TestABatchHoldsTheKeysOfItsEvents(t *testing.T) {
	lost := func(name string) Event {
		p := pod(name, "1", "1")
		return Event{Pair{p, p}, Header{Deleted, Lost}}
	}
	for _, before := range []int{0, 1, firstSegment - 1, firstSegment} {
		l := New()
		c := l.Published()
		appendAll(l, addsOf(0, before)...)
		appendAll(l, lost("a"), lost("b"), lost("c"))
		appendAll(l, recreate(pod("d", "1", "1"), pod("d", "2", "2"))...)
		appendAll(l, addsOf(before, 1)...)
		appendAll(l, lost("e"))
		l.Publish()
		b := NewBatch(64)
		for range 2 { // its keys go with its events
			begin := c
			require.True(t, begin.Take(b, math.MaxUint64))
			require.Equal(t, before+7, b.Left())
			for range before {
				_, _, key := b.Next()
				require.Nil(t, key)
			}
			for _, name := range []string{"a", "b", "c"} {
				require.Equal(t, keyOf(name), b.Ahead().Key())
				_, _, key := b.Next()
				require.Equal(t, keyOf(name), *key)
			}
			_, h, key := b.Next()
			require.True(t, h.Is(Recreated))
			require.Nil(t, key, "the delete of a recreated object has no key")
			b.Skip(1)
			_, _, key = b.Next()
			require.Equal(t, keyOf("e"), *key, "whatever was dropped before")
			b.Empty()
		}
		require.True(t, c.Take(b, math.MaxUint64))
		b.Skip(1)
		_, _, key := b.Next()
		require.Equal(t, keyOf("e"), *key)
	}
}

func TestABatchNamesTheObjectsOfItsEvents(t *testing.T) {
	a, b := pod("a", "1", "1"), pod("b", "2", "2")
	l := New()
	c := l.Published()
	appendAll(l, add(a), update(b, pod("b", "2", "3")), remove(a, a))
	l.Publish()
	batch := NewBatch(10)
	require.True(t, c.Take(batch, 100))
	for _, name := range []string{"a", "b", "a"} {
		require.Equal(t, keyOf(name), batch.Ahead().Key())
		batch.Next()
	}
}
