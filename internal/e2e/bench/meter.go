package main

import (
	"errors"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// sample is what one run came to, an operation.
type sample struct {
	value          float64 // what is compared; in nanoseconds, or a count
	wall, cpu      float64 // nanoseconds
	mallocs, bytes float64
	note           string
}

// meter measures sections.
type meter struct {
	atLeast time.Duration
	gc      bool
	profile *profiler // nil where there is nothing to profile
}

// section runs ops operations and returns what each of them took.
func (m *meter) section(ops int, do func() error) (sample, error) {
	runtime.GC()
	if !m.gc {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	if err := m.profile.start(); err != nil {
		return sample{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	start := time.Now()

	err := do()

	wall := time.Since(start)
	cpu = cpuTime() - cpu
	runtime.ReadMemStats(&after)
	err = errors.Join(err, m.profile.stop())
	n := float64(ops)
	s := sample{
		wall:    float64(wall) / n,
		cpu:     float64(cpu) / n,
		mallocs: float64(after.Mallocs-before.Mallocs) / n,
		bytes:   float64(after.TotalAlloc-before.TotalAlloc) / n,
	}
	s.value = s.wall
	return s, err
}

// cpuTime is what the process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no failure that this call could meet
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
