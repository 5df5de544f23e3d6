package main

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// fed is everyone, and the source they are all fed from.
var fed = append(everyone[:len(everyone):len(everyone)], source)

// stream is an initial state and the events that follow it.
type stream struct {
	make   maker
	list   runtime.Object
	played []watch.Event
}

// ofPods is the events of a few pods.
func ofPods(c config) (stream, error) { return podStream(min(perGroup, c.events), c.events) }

// ofInspectedPods is ofPods while the informer takes its measures.
func ofInspectedPods(c config) (stream, error) {
	st, err := ofPods(c)
	st.make = newInspectedPods
	return st, err
}

// ofAllPods is the events of as many pods as there are.
func ofAllPods(c config) (stream, error) { return podStream(c.objects, c.events) }

func podStream(objects, events int) (stream, error) {
	list := podList(objects)
	return stream{newPods, list, changes(list, events)}, nil
}

// events is work that begins with the first event that the source sends, and
// ends when the last handler was told the last one.
func events(of func(config) (stream, error), handlers int) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		st, err := of(c)
		return func(i implementation) (contender, error) {
			if i == source {
				return contender{run: st.drain}, nil
			}
			return contender{run: func(m *meter) (sample, error) { return st.deliver(m, i, handlers) }}, nil
		}, err
	}
}

func (st stream) deliver(m *meter, i implementation, handlers int) (sample, error) {
	f := newFeed(st.list)
	want := tally{adds: meta.LenList(st.list), updates: len(st.played)}
	s, err := launch(st.make(i, f), counters(handlers, want)...)
	if err != nil {
		return sample{}, err
	}
	w, err := s.synced(f.opened)
	if err != nil {
		return sample{}, err
	}
	measured, err := m.section(len(st.played), func() error {
		go w.play(st.played)
		return s.updated()
	})
	if err != nil {
		return sample{}, err
	}
	last := st.played[len(st.played)-1].Object
	key, err := keyOf(last)
	if err == nil && s.get(key) != any(last) {
		err = errNotLast
	}
	return measured, errors.Join(err, s.stop())
}

func keyOf(obj runtime.Object) (indexer.Key, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return indexer.Key{}, err
	}
	return indexer.Key{Namespace: m.GetNamespace(), Name: m.GetName()}, nil
}

// drain does what the source does for the others, and drops the events.
func (st stream) drain(m *meter) (sample, error) {
	w := &feedWatch{events: make(chan watch.Event, watchBuffer)}
	return m.section(len(st.played), func() error {
		go w.play(st.played)
		for range st.played {
			<-w.events
		}
		return nil
	})
}
