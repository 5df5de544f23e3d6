package main

import (
	"slices"
	"time"
)

// latencies are how long calls took that came at even intervals.
type latencies []time.Duration

// pace is the time between two calls of a sampler.
const pace = 100 * time.Microsecond

// sampleWhile makes calls from a goroutine of its own while work runs, and
// returns how long each of them took.
//
// The calls do not wait for each other: where one is held up, those that would
// have come meanwhile are held up too, each for what is left, and count as
// well. Else a lock that is held for a second would be one slow call among
// thousands of fast ones (coordinated omission).
func sampleWhile(call func(i int) error, work func() error) (latencies, error) {
	stop := make(chan struct{})
	failed := make(chan error, 1)
	var taken latencies
	start := time.Now()
	go func() {
		for i := 0; ; i++ {
			before := time.Now()
			err := call(i)
			taken = append(taken, time.Since(before))
			if err != nil {
				failed <- err
				return
			}
			select {
			case <-stop:
				failed <- nil
				return
			default:
			}
			time.Sleep(pace)
		}
	}()
	err := work()
	close(stop)
	if failed := <-failed; err == nil {
		err = failed
	}
	return taken.evenly(time.Since(start)), err
}

// evenly adds the calls that would have come while others were held up. They
// took turns with pauses, in all so long.
func (l latencies) evenly(inAll time.Duration) latencies {
	for _, d := range l {
		inAll -= d
	}
	interval := max(inAll/time.Duration(len(l)), 1)
	all := slices.Clone(l)
	for _, d := range l {
		for d -= interval; d > 0; d -= interval {
			all = append(all, d)
		}
	}
	slices.Sort(all)
	return all
}

// quantile returns what a share of the calls did not exceed. They are sorted.
func (l latencies) quantile(share float64) time.Duration {
	return l[min(int(share*float64(len(l))), len(l)-1)]
}
