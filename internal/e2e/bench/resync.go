package main

import (
	"errors"
	"time"
)

// resyncPeriod is the shortest that client-go knows.
const resyncPeriod = time.Second

// resyncs is what a resync to one of some handlers costs in CPU time: all that
// the process uses from the end of one to the end of the next, in between which
// nothing else happens. The other handlers must not be told anything.
func resyncs(handlers int) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		list := podList(c.objects)
		return func(i implementation) (contender, error) {
			return contender{run: func(m *meter) (sample, error) {
				all := counters(handlers, tally{adds: len(list.Items)})
				var ends [2]time.Duration
				all[0].resyncs(len(list.Items), &ends)
				var s *started
				_, err := m.section(1, func() (err error) {
					if s, err = launch(newResyncingPods(i, newFeed(list)), all...); err != nil {
						return err
					}
					return errors.Join(s.told(), s.updated())
				})
				if err != nil {
					return sample{}, err
				}
				return sample{value: float64(ends[1] - ends[0])}, s.stop()
			}}, nil
		}, nil
	}
}

// resyncs makes a counter want resyncs of so many objects, and note the CPU
// time at the end of the first ones.
func (c *counter) resyncs(objects int, ends *[2]time.Duration) {
	c.resync, c.more, c.want.updates = resyncPeriod, true, len(ends)*objects
	c.each = func() {
		if n := c.updates + 1; n%objects == 0 && n <= c.want.updates {
			ends[n/objects-1] = cpuTime()
		}
	}
}
