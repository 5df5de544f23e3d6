package main

import (
	"errors"
	"runtime"

	corev1 "k8s.io/api/core/v1"
)

// idle is what many informers need that have little to do, each with a handler
// and some objects, as in a big operator.
func idle(informers int, needs func(*corev1.PodList) need) func(config) (func(implementation) (contender, error), error) {
	return func(config) (func(implementation) (contender, error), error) {
		list := podList(10)
		n := needs(list)
		return func(i implementation) (contender, error) {
			return contender{run: func(*meter) (sample, error) {
				before := n.now()
				all := make([]*started, informers)
				for k := range all {
					f := newFeed(list)
					f.buffer = 0 // a buffer would be more than all the rest
					var err error
					if all[k], err = start(i, f, 1, tally{adds: len(list.Items)}); err != nil {
						return sample{}, err
					}
					if _, err := all[k].synced(f.opened); err != nil {
						return sample{}, err
					}
				}
				value := n.now() - before - float64(informers)*n.objects
				runtime.KeepAlive(list)
				return sample{value: value}, stopAll(all)
			}}, nil
		}, nil
	}
}

// need is what can be measured of informers at rest.
type need struct {
	now     func() float64 // what the process needs
	objects float64        // what of it the objects of an informer take
}

func needOfHeap(list *corev1.PodList) need { return need{now: heap, objects: copiesOf(list)} }

func needOfGoroutines(*corev1.PodList) need {
	return need{now: func() float64 { return float64(atRest()) }}
}

func stopAll(all []*started) (err error) {
	for _, s := range all {
		err = errors.Join(err, s.stop())
	}
	return err
}
