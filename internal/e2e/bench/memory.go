package main

import (
	"errors"
	"fmt"
	"runtime"
)

// memory is what an idle informer needs for each object, beside the objects.
func memory(c config) (func(implementation) (contender, error), error) {
	list := podList(c.objects)
	copies := copiesOf(list)
	return func(i implementation) (contender, error) {
		return contender{run: func(*meter) (sample, error) {
			before := heap()
			f := newFeed(list)
			s, err := start(i, f, 1, tally{adds: len(list.Items)})
			if err != nil {
				return sample{}, err
			}
			if _, err := s.synced(f.opened); err != nil {
				return sample{}, err
			}
			beside := heap() - before - copies
			runtime.KeepAlive(list)
			return sample{value: beside / float64(len(list.Items))}, s.stop()
		}}, nil
	}, nil
}

// peaks is the most memory in use during a relist, as a multiple of what is in
// use before it. The source makes its objects anew each time and keeps none.
func peaks(stream bool) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		pods := populate(c.objects)
		return func(i implementation) (contender, error) {
			return contender{run: func(*meter) (sample, error) { return peak(i, newWire(pods, stream)) }}, nil
		}, nil
	}
}

func peak(i implementation, from *wire) (sample, error) {
	want := tally{adds: from.pods.n, updates: from.changed()}
	if i == clientgo {
		want.updates = from.pods.n
	}
	before := heap()
	s, err := start(i, from, 1, want)
	if err != nil {
		return sample{}, err
	}
	w, err := s.synced(from.opened)
	if err != nil {
		return sample{}, err
	}
	steady := heap() - before
	from.second.Store(true)
	most, err := peakWhile(func() error {
		w.expire()
		return s.updated()
	})
	_, again := receive(from.opened) // before it stops: it is about to ask
	most -= before
	note := fmt.Sprintf("%s, steady %s", size(most), size(steady))
	return sample{value: most / steady, note: note}, errors.Join(err, again, s.stop())
}
