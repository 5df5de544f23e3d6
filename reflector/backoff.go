package reflector

import "time"

// The delays of an outage: the first step, doubled with each further one up
// to the last, and to that up to as much again by chance.
const (
	firstDelay = 800 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// backoff returns the delay of a step, counted from 1. Random is in [0, 1).
func backoff(step int, random float64) time.Duration {
	d := lastDelay
	if shift := step - 1; shift < 6 {
		d = min(firstDelay<<shift, lastDelay)
	}
	return d + time.Duration(random*float64(d))
}
