package eventlog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test covers the table in Coalesced's comment: each pending event, and each kind of event that
// may follow it.
func TestWhatIsPendingForAnObject(t *testing.T) {
	seen, seen2 := pod("a", "seen", "1"), pod("a", "seen", "2")
	other, other2, third := pod("a", "other", "3"), pod("a", "other", "4"), pod("a", "third", "5")
	initial := Event{Pair{New: seen}, Header{Added, Initial}}
	lost := func(final any) Event { return Event{Pair{final, seen}, Header{Deleted, Lost}} }
	pending := map[string][]Event{
		"nothing":   nil,
		"added":     {initial},
		"updated":   {update(seen, seen2)},
		"recreated": recreate(seen, other),
		"deleted":   {remove(seen2, seen)},
	}
	for _, c := range []struct {
		before string
		comes  []Event
		want   []Event
	}{
		{"nothing", []Event{add(seen)}, []Event{add(seen)}},
		{"nothing", []Event{update(seen, seen2)}, []Event{update(seen, seen2)}},
		{"nothing", []Event{remove(seen2, seen)}, []Event{remove(seen2, seen)}},
		{"nothing", recreate(seen, other), recreate(seen, other)},

		{"added", []Event{update(seen, seen2)}, []Event{{Pair{New: seen2}, Header{Added, Initial}}}},
		{"added", []Event{add(other)}, []Event{{Pair{New: other}, Header{Added, Initial}}}},
		{"added", []Event{remove(seen2, seen)}, nil},
		{"added", []Event{remove(seen2, seen), add(other)}, []Event{add(other)}},
		{"added", recreate(seen, other), []Event{{Pair{New: other}, Header{Added, Initial}}}},

		{"updated", []Event{update(seen2, seen)}, []Event{update(seen, seen)}},
		{"updated", []Event{add(seen2)}, []Event{update(seen, seen2)}},
		{"updated", []Event{add(other)}, recreate(seen, other)},
		{"updated", recreate(seen2, other), recreate(seen, other)},
		{"updated", []Event{remove(seen2, seen2)}, []Event{remove(seen2, seen)}},

		{"recreated", []Event{update(other, other2)}, recreate(seen, other2)},
		{"recreated", []Event{add(seen2)}, []Event{update(seen, seen2)}},
		{"recreated", recreate(other, seen2), []Event{update(seen, seen2)}},
		{"recreated", recreate(other, third), recreate(seen, third)},
		{"recreated", []Event{remove(other2, other)}, []Event{lost(seen)}},

		{"deleted", []Event{add(seen2)}, []Event{update(seen, seen2)}},
		{"deleted", []Event{add(other)}, recreate(seen, other)},
		{"deleted", []Event{update(seen2, other)}, recreate(seen, other)},
		{"deleted", []Event{update(seen, seen2)}, []Event{update(seen, seen2)}},
		{"deleted", []Event{remove(seen2, seen)}, []Event{remove(seen2, seen)}},
	} {
		var table Coalesced
		merge(&table, 0, pending[c.before]...)
		merge(&table, 10, c.comes...)
		table.Check()
		require.Equal(t, c.want, popped(&table), "%s, then %v", c.before, c.comes)
		require.Zero(t, table.Len())
	}
}

// An object is replaced by another one, comes back, and is deleted before the handler sees any of it. The
// handler gets one delete of the object that it knows.
func TestAnObjectThatComesBackAndGoes(t *testing.T) {
	seen, other, back := pod("a", "seen", "1"), pod("a", "other", "2"), pod("a", "seen", "3")
	var table Coalesced
	merge(&table, 0, recreate(seen, other)...)
	merge(&table, 2, recreate(other, back)...)
	merge(&table, 4, remove(pod("a", "seen", "4"), back))
	require.Equal(t, []Event{remove(pod("a", "seen", "4"), seen)}, popped(&table))
}

// A program may have removed the deleted object from the store by hand. The handler has then seen no event of
// that.
func TestDeletesOfObjectsThatWereNotStored(t *testing.T) {
	gone, again, other := pod("a", "1", "2"), pod("a", "1", "3"), pod("a", "2", "4")
	notStored := remove(gone, gone)
	for _, c := range []struct{ comes, want []Event }{
		{[]Event{notStored}, []Event{notStored}},
		{[]Event{notStored, notStored}, []Event{notStored}},
		{[]Event{notStored, add(again)}, []Event{update(gone, again)}},
		{[]Event{notStored, add(other)}, recreate(gone, other)},
		{[]Event{add(pod("a", "1", "1")), notStored}, nil},
	} {
		var table Coalesced
		merge(&table, 0, c.comes...)
		require.Equal(t, c.want, popped(&table))
	}
}

func TestObjectsThatComeAndGoLeaveNothing(t *testing.T) {
	var table Coalesced
	stays := pod("stays", "1", "1")
	merge(&table, 0, add(stays))
	for n := range uint64(10_000) {
		p := pod(fmt.Sprint("p", n), "1", "1")
		merge(&table, n, add(p), remove(p, p))
	}
	require.LessOrEqual(t, len(table.order), 4*firstSegment)
	require.Equal(t, 1, table.Len())
	oldest, ok := table.Oldest()
	require.True(t, ok)
	require.Zero(t, oldest)
	require.Equal(t, []Event{add(stays)}, popped(&table))
	_, ok = table.Oldest()
	require.False(t, ok)
}

// A batch takes as many objects as its limit allows. A delete without a final state has its key.
func TestABatchOfMergedChanges(t *testing.T) {
	var table Coalesced
	a, b, c, d := pod("a", "1", "1"), pod("b", "1", "1"), pod("c", "1", "1"), pod("d", "1", "1")
	merge(&table, 0, add(a))
	merge(&table, 1, recreate(b, pod("b", "2", "2"))...)
	require.False(t, table.Has(keyOf("c")))
	merge(&table, 3, Event{Pair{c, c}, Header{Deleted, Lost}}, add(d))
	require.True(t, table.Has(keyOf("c")))
	batch := NewBatch(8)
	batch.Limit(2)
	for !batch.Full() {
		_, ok := table.Pop(batch)
		require.True(t, ok)
	}
	require.Equal(t, 3, batch.Left(), "the add, and both halves of what was recreated")
	batch.Empty()
	first, _ := table.Pop(batch)
	require.Equal(t, uint64(3), first)
	_, ok := table.Pop(batch)
	require.True(t, ok)
	_, _, key := batch.Next()
	require.Equal(t, keyOf("c"), *key)
	_, _, key = batch.Next()
	require.Nil(t, key)
	require.False(t, table.Has(keyOf("c")), "it was taken")
}
