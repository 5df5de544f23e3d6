package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// indexed are the indexes beside the one by namespace.
var indexed = map[string]func(*corev1.Pod) string{
	"node":  func(p *corev1.Pod) string { return p.Spec.NodeName },
	"app":   func(p *corev1.Pod) string { return p.Labels["app"] },
	"owner": func(p *corev1.Pod) string { return string(p.OwnerReferences[0].UID) },
}

// store is a store with these indexes, without an informer.
type store struct {
	update func(*corev1.Pod) error
	onNode func(name string) int // the number of pods of a node
}

// BenchmarkUpdate measures the update of a pod that has moved to another node: one value of four indexes
// changes.
func BenchmarkUpdate(b *testing.B) {
	var states [2][]*corev1.Pod
	for n := range states {
		list := podList(*objects)
		for i := range list.Items {
			list.Items[i].Spec.NodeName = nodeName(i + n)
			states[n] = append(states[n], &list.Items[i])
		}
	}
	byEach(b, "one-of-four-indexes", everyone, func(b *testing.B, impl string) {
		s := newStore(b, impl)
		for _, p := range states[0] {
			require.NoError(b, s.update(p))
		}
		n := len(states[0])
		at := func(i int) *corev1.Pod { return states[(i/n+1)%2][i%n] }
		last := at(b.N - 1)
		before := s.onNode(last.Spec.NodeName)

		measure(b, func() {
			for i := range b.N {
				if err := s.update(at(i)); err != nil {
					b.Fatal(err)
				}
			}
		})

		if b.N == 1 { // the first attempt of each run
			require.Equal(b, before+1, s.onNode(last.Spec.NodeName), "the index does not have the last update")
		}
	})
}

func newStore(b *testing.B, impl string) store {
	switch impl {
	case clientgo:
		return ofIndexer(cache.NewIndexer(cache.MetaNamespaceKeyFunc, clientgoIndexers()))
	case face:
		return ofIndexer(tidecache.NewIndexer(cache.MetaNamespaceKeyFunc, clientgoIndexers()))
	}
	return ofWriter(b)
}

func clientgoIndexers() cache.Indexers {
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
			pods, _ := x.ByIndex("node", name) // there is such an index
			return len(pods)
		},
	}
}

func ofWriter(b *testing.B) store {
	o := indexer.Options{Indexes: []indexer.Index[any]{{Name: indexer.NamespaceIndex, ByNamespace: true}}}
	for name, value := range indexed {
		ix := indexer.Index[*corev1.Pod]{Name: name, Append: func(values []string, p *corev1.Pod) []string { return append(values, value(p)) }}
		o.Indexes = append(o.Indexes, ix.Untyped())
	}
	w, err := indexer.New(o)
	require.NoError(b, err)
	return store{
		update: func(p *corev1.Pod) error {
			tx := w.Begin()
			tx.Put(0, indexer.Key{Namespace: p.Namespace, Name: p.Name}, p, 0)
			tx.Commit()
			return nil
		},
		onNode: func(name string) int {
			pods, _ := w.Indexer().Lookup("node", name) // there is such an index
			return pods.Len()
		},
	}
}
