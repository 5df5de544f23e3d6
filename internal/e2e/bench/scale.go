package main

import (
	"fmt"
	"runtime"
)

// firstScale is the smallest of the sizes.
const firstScale = 1000

// scaleWorks is the first rows of the table at sizes in steps of ten up to the
// one that is set, on one processor and on two: an event should cost the same
// everywhere, and a sync as much for each object.
func scaleWorks(c config) []work {
	first := []work{
		{
			name: "event/1", title: "one MODIFIED event, 1 handler", unit: inTime, op: "event",
			by: fed, prepare: events(ofAllPods, 1),
		},
		{
			name: "event/16", title: "one MODIFIED event, 16 handlers", unit: inTime, op: "event",
			by: fed, prepare: events(ofAllPods, 16),
		},
		{
			name: "sync", title: "initial sync, for each object", unit: inTime, op: "object",
			by: everyone, prepare: syncsEach,
		},
	}
	var all []work
	for _, w := range first {
		for procs := 1; procs <= 2; procs++ {
			for objects := firstScale; objects <= c.objects; objects *= 10 {
				all = append(all, w.at(procs, objects))
			}
		}
	}
	return all
}

// at is the work on so many processors, with so many objects.
func (w work) at(procs, objects int) work {
	prepare := w.prepare
	w.procs = procs
	w.name = fmt.Sprintf("%s/procs=%d/objects=%d", w.name, procs, objects)
	w.title = fmt.Sprintf("%s: %s pods, GOMAXPROCS %d", w.title, group(objects), procs)
	w.prepare = func(c config) (func(implementation) (contender, error), error) {
		c.objects = objects
		return prepare(c)
	}
	return w
}

// on makes the work's processors those of the program, until it is undone.
func (w work) on() (undo func()) {
	if w.procs == 0 {
		return func() {}
	}
	before := runtime.GOMAXPROCS(w.procs)
	return func() { runtime.GOMAXPROCS(before) }
}
