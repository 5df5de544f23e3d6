package main

import (
	"runtime"
	"time"
)

// goroutines counts those of an informer at rest, with all its handlers told
// all. The source has none.
func goroutines(config) (func(implementation) (contender, error), error) {
	const handlers = 10
	list := podList(10)
	return func(i implementation) (contender, error) {
		return contender{run: func(*meter) (sample, error) {
			before := atRest()
			f := newFeed(list)
			s, err := start(i, f, handlers, tally{adds: len(list.Items)})
			if err != nil {
				return sample{}, err
			}
			if _, err := s.synced(f.opened); err != nil {
				return sample{}, err
			}
			n := atRest() - before
			return sample{value: float64(n)}, s.stop()
		}}, nil
	}, nil
}

// atRest returns the number of goroutines once it does not change any more:
// some that were only needed for a start, or for an end, are yet to go.
func atRest() int {
	const same, pause = 50, time.Millisecond
	n, seen := runtime.NumGoroutine(), 0
	for seen < same {
		time.Sleep(pause)
		seen++
		if now := runtime.NumGoroutine(); now != n {
			n, seen = now, 0
		}
	}
	return n
}
