package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// fed is everyone, and the source they are all fed from.
var fed = append(everyone[:len(everyone):len(everyone)], source)

// events is work that begins with the first event that the source sends, and
// ends when the last handler was told the last one.
func events(handlers int) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		list := podList(min(perGroup, c.events))
		played := changes(list, c.events)
		return func(i implementation) (contender, error) {
			if i == source {
				return contender{run: func(m *meter) (sample, error) { return drain(m, played) }}, nil
			}
			return contender{run: func(m *meter) (sample, error) { return deliver(m, i, handlers, list, played) }}, nil
		}, nil
	}
}

func deliver(m *meter, i implementation, handlers int, list *corev1.PodList, played []watch.Event) (sample, error) {
	f := newFeed(list)
	s, err := start(i, f, handlers, tally{adds: len(list.Items), updates: len(played)})
	if err != nil {
		return sample{}, err
	}
	if err := s.all(s.added); err != nil {
		return sample{}, err
	}
	w, err := receive(f.opened)
	if err != nil {
		return sample{}, err
	}
	measured, err := m.section(len(played), func() error {
		go w.play(played)
		return s.all(s.updated)
	})
	if err != nil {
		return sample{}, err
	}
	last := played[len(played)-1].Object.(*corev1.Pod)
	if stored, err := s.get(last.Namespace, last.Name); err != nil || stored != last {
		return sample{}, fmt.Errorf("the store does not hold what came last: %w", err)
	}
	return measured, s.stop()
}

// drain does what the source does for the others, and drops the events.
func drain(m *meter, played []watch.Event) (sample, error) {
	w := &feedWatch{events: make(chan watch.Event, watchBuffer)}
	return m.section(len(played), func() error {
		go w.play(played)
		for range played {
			<-w.events
		}
		return nil
	})
}
