package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"
)

// config is what the flags say.
type config struct {
	rounds, objects, events int
	// atLeast is how long what takes less than that is repeated.
	atLeast  time.Duration
	gc       bool             // let the collector run while something is measured
	scale    bool             // measure at several sizes
	left     []implementation // those that -impl leaves out
	profiles *profiler
	progress func(work string) // is told what is measured next
}

func (c *config) validate() error {
	if c.rounds < 1 || c.objects < 1 || c.events < 1 {
		return errors.New("-rounds, -objects and -events must be at least 1")
	}
	if c.profiles.cpuFile != "" && c.profiles.memFile != "" {
		return errors.New("-cpuprofile and -memprofile: one at a time, since each would show in the other")
	}
	if os.Getenv("TIDEMARK_VERIFY") != "" {
		return errors.New("TIDEMARK_VERIFY is set: tidemark would check its invariants after each step, and be measured with that")
	}
	return nil
}

// selects leaves out the implementations whose names do not match a pattern.
func (c *config) selects(pattern string) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for i := range implementations {
		if !re.MatchString(i.flag()) {
			c.left = append(c.left, i)
		}
	}
	if len(c.left) == len(names) {
		return fmt.Errorf("no implementation has a name that matches %q", pattern)
	}
	return nil
}

func (c *config) leavesOut(i implementation) bool { return slices.Contains(c.left, i) }
