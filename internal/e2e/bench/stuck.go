package main

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
)

// stuckRounds is how often the events are played to the stuck handler: as many new
// objects as there are events would not fit into memory.
const stuckRounds = 5

// stuck is what an informer needs, beside the objects, while one of its two
// handlers does not come back from its first update: for each event or, with
// Latest, for each object. client-go and its face know one way to deliver.
func stuck(delivery informer.Delivery) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		list := podList(min(perGroup, c.events))
		played := slices.Repeat(changes(list, c.events), stuckRounds)
		b := &blockage{list: list, played: played, copies: copiesOf(list), ops: len(played)}
		if delivery == informer.Latest {
			b.ops = len(list.Items)
		}
		return func(i implementation) (contender, error) {
			if i == native {
				return contender{run: func(*meter) (sample, error) { return b.measure(i, delivery) }}, nil
			}
			return contender{run: func(*meter) (sample, error) { return b.measure(i, informer.Every) }}, nil
		}, nil
	}
}

// blockage is the events that a handler is stuck under.
type blockage struct {
	list   *corev1.PodList
	played []watch.Event
	copies float64 // the size of what the events replace: handlers are told it too
	ops    int
}

func (b *blockage) measure(i implementation, delivery informer.Delivery) (sample, error) {
	free, held := newCounter(tally{adds: len(b.list.Items), updates: len(b.played)}), b.held(delivery)
	var once sync.Once
	entered, release := make(chan struct{}), make(chan struct{})
	held.each = func() {
		once.Do(func() {
			close(entered)
			<-release
		})
	}
	before := heap()
	f := newFeed(b.list)
	s, err := launch(newPods(i, f), free, held)
	if err != nil {
		return sample{}, err
	}
	w, err := s.synced(f.opened)
	if err != nil {
		return sample{}, err
	}
	go w.play(b.played[:1])
	<-entered
	go w.play(b.played[1:])
	_, err = receive(free.updated)
	beside := heap() - before - b.copies
	runtime.KeepAlive(b)

	close(release)
	_, released := receive(held.updated)
	return sample{value: max(beside, 1) / float64(b.ops)}, errors.Join(err, released, s.stop())
}

// held is the handler that gets stuck. It is told all in the end; with Latest
// the update that it is stuck in, and then one of each object.
func (b *blockage) held(delivery informer.Delivery) *counter {
	want := tally{adds: len(b.list.Items), updates: len(b.played)}
	if delivery == informer.Latest {
		want.updates = 1 + min(len(b.list.Items), len(b.played)-1)
	}
	c := newCounter(want)
	c.delivery = delivery
	return c
}
