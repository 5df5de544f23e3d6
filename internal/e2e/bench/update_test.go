package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// indexed are the indexes in addition to the index by namespace.
var indexed = map[string]func(*corev1.Pod) string{
	"node":  func(p *corev1.Pod) string { return p.Spec.NodeName },
	"app":   func(p *corev1.Pod) string { return p.Labels["app"] },
	"owner": func(p *corev1.Pod) string { return string(p.OwnerReferences[0].UID) },
}

// store is a store with the indexes of indexed, without an informer.
type store struct {
	update func(*corev1.Pod) error
	onNode func(name string) int // the number of pods on a node
}

// BenchmarkUpdate measures the update of a pod that has moved to another node. The value of one of four
// indexes changes.
func BenchmarkUpdate(b *testing.B) {
	var states [2][]*corev1.Pod
	for n := range states {
		list := podList(*objects)
		for i := range list.Items {
			list.Items[i].Spec.NodeName = nodeName(i + n)
			states[n] = append(states[n], &list.Items[i])
		}
	}
	for _, impl := range everyone {
		m := &moves{store: newStore(b, impl), states: states}
		for range 2 { // the first state and the second one
			m.move(b, len(states[0]))
		}
		b.Run("one-of-four-indexes/impl="+impl, func(b *testing.B) { measure(b, func() { m.move(b, b.N) }) })
		before := m.onNode(m.next().Spec.NodeName)
		m.move(b, 1)
		require.Equal(b, before+1, m.onNode(m.last.Spec.NodeName), "the index does not have the last update")
	}
}

// moves moves the pods of a store to other nodes and back, one after another.
type moves struct {
	store
	states [2][]*corev1.Pod
	made   int // the number of moves
	last   *corev1.Pod
}

// next returns the next pod to store.
func (m *moves) next() *corev1.Pod {
	n := len(m.states[0])
	return m.states[m.made/n%2][m.made%n]
}

func (m *moves) move(b *testing.B, n int) {
	for range n {
		m.last = m.next()
		if err := m.update(m.last); err != nil {
			b.Fatal(err)
		}
		m.made++
	}
}

func newStore(b *testing.B, impl string) store {
	switch impl {
	case clientgo:
		return ofIndexer(cache.NewIndexer(cache.MetaNamespaceKeyFunc, clientgoIndexers()))
	case clientgoAPI:
		return ofIndexer(tidecache.NewIndexer(cache.MetaNamespaceKeyFunc, clientgoIndexers()))
	}
	return ofWriter(b)
}

func clientgoIndexers() cache.Indexers { return indexersOf(indexed) }

// indexersOf returns some indexes in addition to the index by namespace.
func indexersOf(indexed map[string]func(*corev1.Pod) string) cache.Indexers {
	indexers := byNamespace()
	for name, value := range indexed {
		indexers[name] = func(obj any) ([]string, error) { return []string{value(obj.(*corev1.Pod))}, nil }
	}
	return indexers
}

func ofIndexer(x cache.Indexer) store {
	return store{
		update: func(p *corev1.Pod) error { return x.Update(p) },
		onNode: func(name string) int {
			pods, _ := x.ByIndex("node", name) // only a missing index is an error
			return len(pods)
		},
	}
}

// writerOf returns the writer of a store of pods, with some indexes in addition to the index by
// namespace.
func writerOf(b *testing.B, indexed map[string]func(*corev1.Pod) string, more ...indexer.Index[any]) *indexer.Writer {
	o := indexer.Options{
		Indexes: append(more, indexer.Index[any]{Name: indexer.NamespaceIndex, ByNamespace: true}),
		Labels:  func(obj any) map[string]string { return obj.(*corev1.Pod).Labels },
	}
	for name, value := range indexed {
		ix := indexer.Index[*corev1.Pod]{Name: name, Append: func(values []string, p *corev1.Pod) []string { return append(values, value(p)) }}
		o.Indexes = append(o.Indexes, ix.Untyped())
	}
	w, err := indexer.New(o)
	require.NoError(b, err)
	return w
}

func put(w *indexer.Writer, p *corev1.Pod) {
	tx := w.Begin()
	tx.Put(0, indexer.Key{Namespace: p.Namespace, Name: p.Name}, p, 0)
	tx.Commit()
}

func ofWriter(b *testing.B) store {
	w := writerOf(b, indexed)
	return store{
		update: func(p *corev1.Pod) error {
			put(w, p)
			return nil
		},
		onNode: func(name string) int {
			pods, _ := w.Indexer().Lookup("node", name) // only a missing index is an error
			return pods.Len()
		},
	}
}
