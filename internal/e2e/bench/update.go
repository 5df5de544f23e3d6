package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// The indexes that updates keep up, beside the one by namespace that comes with
// each implementation.
var indexed = map[string]func(*corev1.Pod) string{
	"node":  func(p *corev1.Pod) string { return p.Spec.NodeName },
	"app":   func(p *corev1.Pod) string { return p.Labels["app"] },
	"owner": func(p *corev1.Pod) string { return string(p.OwnerReferences[0].UID) },
}

// store is a bare store with the indexes, of whichever implementation.
type store struct {
	update func(*corev1.Pod) error
	onNode func(name string) int // how many pods there are on a node
}

// updates is the work of putting pods into a store that have moved to another
// node, which changes the value of one index of four.
func updates(c config) (func(implementation) (contender, error), error) {
	var states [2][]*corev1.Pod
	for n := range states {
		list := podList(c.objects)
		for i := range list.Items {
			list.Items[i].Spec.NodeName = nodeName(i + n)
			states[n] = append(states[n], &list.Items[i])
		}
	}
	return func(i implementation) (contender, error) {
		s, err := newStore(i)
		if err != nil {
			return contender{}, err
		}
		m := &moves{store: s, states: states}
		return contender{run: repeated(m.do)}, m.fill()
	}, nil
}

func newStore(i implementation) (store, error) {
	switch i {
	case clientgo:
		return ofIndexer(cache.NewIndexer(cache.MetaNamespaceKeyFunc, clientgoIndexers())), nil
	case face:
		return ofIndexer(tidecache.NewIndexer(cache.MetaNamespaceKeyFunc, clientgoIndexers())), nil
	default:
		return ofWriter()
	}
}

func clientgoIndexers() cache.Indexers {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
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

func ofWriter() (store, error) {
	o := indexer.Options{Indexes: []indexer.Index[any]{{Name: indexer.NamespaceIndex, ByNamespace: true}}}
	for name, value := range indexed {
		ix := indexer.Index[*corev1.Pod]{
			Name: name, Append: func(values []string, p *corev1.Pod) []string { return append(values, value(p)) },
		}
		o.Indexes = append(o.Indexes, ix.Untyped())
	}
	w, err := indexer.New(o)
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
	}, err
}

// moves moves all pods of a store to other nodes and back.
type moves struct {
	store
	states [2][]*corev1.Pod
	state  int // what is put next
	at     int
}

// fill puts the first state.
func (m *moves) fill() error {
	for _, p := range m.states[0] {
		if err := m.update(p); err != nil {
			return err
		}
	}
	m.state = 1
	return nil
}

// do moves n pods, the last of which has to show in the index.
func (m *moves) do(n int) error {
	for range n - 1 {
		if err := m.update(m.take()); err != nil {
			return err
		}
	}
	last := m.take()
	before := m.onNode(last.Spec.NodeName)
	if err := m.update(last); err != nil {
		return err
	}
	if m.onNode(last.Spec.NodeName) != before+1 {
		return errIndex
	}
	return nil
}

func (m *moves) take() *corev1.Pod {
	p := m.states[m.state][m.at]
	if m.at++; m.at == len(m.states[m.state]) {
		m.state, m.at = 1-m.state, 0
	}
	return p
}
