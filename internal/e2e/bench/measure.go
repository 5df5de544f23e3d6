package main

import (
	"errors"
	"fmt"
	"slices"
)

// result is what the runs of one work came to.
type result struct {
	work
	samples map[implementation][]sample
	medians map[implementation]sample
}

// measure has each implementation do some work, in turn.
func measure(c config, w work) (r result, err error) {
	c.progress(w.name)
	defer w.on()()
	r = result{work: w, samples: map[implementation][]sample{}, medians: map[implementation]sample{}}
	contenders := map[implementation]contender{}
	defer func() {
		for _, of := range contenders {
			if of.stop != nil {
				err = errors.Join(err, of.stop())
			}
		}
	}()
	if err := ready(c, w, contenders); err != nil {
		return r, err
	}
	for range w.roundsOf(c) {
		if err := r.round(c, contenders); err != nil {
			return r, err
		}
	}
	for i, samples := range r.samples {
		r.medians[i] = median(samples)
	}
	return r, nil
}

// roundsOf is how often each implementation does the work.
func (w work) roundsOf(c config) int {
	if w.rounds > 0 {
		return min(w.rounds, c.rounds)
	}
	return c.rounds
}

// round has each of them do it once.
func (r *result) round(c config, contenders map[implementation]contender) error {
	for i := range implementations {
		of, ok := contenders[i]
		if !ok {
			continue
		}
		m := &meter{atLeast: c.atLeast, gc: c.gc}
		if i.tidemark() {
			m.profile = c.profiles
		}
		s, err := of.run(m)
		if err != nil {
			return fmt.Errorf("%s: %w", i, err)
		}
		r.samples[i] = append(r.samples[i], s)
	}
	return nil
}

// ready makes the implementations of a work ready. What they are fed from is
// held by nobody else when it returns.
func ready(c config, w work, contenders map[implementation]contender) error {
	prepare, err := w.prepare(c)
	if err != nil {
		return err
	}
	for _, i := range w.by {
		if c.leavesOut(i) {
			continue
		}
		if contenders[i], err = prepare(i); err != nil {
			return fmt.Errorf("%s: %w", i, err)
		}
	}
	return nil
}

// median returns the sample with the median value, and the medians of the
// other figures.
func median(samples []sample) sample {
	middle := func(of func(sample) float64) float64 {
		return sorted(samples, of)[(len(samples)-1)/2]
	}
	at := slices.IndexFunc(samples, func(s sample) bool { return s.value == middle(value) })
	s := samples[at]
	s.wall = middle(func(s sample) float64 { return s.wall })
	s.cpu = middle(func(s sample) float64 { return s.cpu })
	s.mallocs = middle(func(s sample) float64 { return s.mallocs })
	s.bytes = middle(func(s sample) float64 { return s.bytes })
	return s
}

func value(s sample) float64 { return s.value }

func sorted(samples []sample, of func(sample) float64) []float64 {
	figures := make([]float64, len(samples))
	for i, s := range samples {
		figures[i] = of(s)
	}
	slices.Sort(figures)
	return figures
}
