package eventlog

import (
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/indexer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pod makes a version of an object.
func pod(name, uid, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(uid), ResourceVersion: version}}
}

func keyOf(name string) indexer.Key { return indexer.Key{Namespace: "default", Name: name} }

// add, update, remove and recreate return the events of an object as the store makes them.
func add(p *corev1.Pod) Event { return Event{Pair{New: p}, Header{Kind: Added}} }

func update(old, now *corev1.Pod) Event { return Event{Pair{old, now}, Header{Kind: Updated}} }

func remove(final, stored *corev1.Pod) Event {
	return Event{Pair{final, stored}, Header{Kind: Deleted}}
}

func recreate(old, now *corev1.Pod) []Event {
	return []Event{
		{Pair{old, old}, Header{Deleted, Lost | Recreated}},
		{Pair{old, now}, Header{Added, Recreated}},
	}
}

// merge adds events to a table, at positions from first.
func merge(c *Coalesced, first uint64, events ...Event) {
	for i, e := range events {
		id, _ := e.identity()
		c.Add(e, id, first+uint64(i)) //nolint:gosec // never negative
	}
}

// popped takes everything from a table.
func popped(c *Coalesced) (events []Event) {
	for {
		b := NewBatch(1)
		if _, ok := c.Pop(b); !ok {
			return events
		}
		for b.Left() > 0 {
			p, h, _ := b.Next()
			events = append(events, Event{*p, h})
		}
	}
}
