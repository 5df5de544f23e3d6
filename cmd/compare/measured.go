package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/process"
)

// order is a request to a measured process.
type order struct {
	Do step
	// For sync:
	Side   string
	Target target
	Kinds  []kind
}

// step is the next step of a measured process. Each step except tally happens once, in this order.
type step string

const (
	doSync  step = "sync"  // run the informers until they and their handlers have synced
	doBegin step = "begin" // start measuring the events
	doEnd   step = "end"   // stop measuring
	doTally step = "tally" // return the received objects and events
)

// answer is an answer of a measured process. The step sync has many answers.
type answer struct {
	outcome
	Objects int // so far
	Sync    syncSample
	Events  time.Duration // the CPU time
	Tally   tally
}

// syncSample has the measurements of a sync.
type syncSample struct {
	CPU           time.Duration
	Heap, PeakRSS uint64
}

// tally has the received objects and events by kind.
type tally struct {
	Objects  map[string]int
	Versions map[string][]uint64 // of the events since the sync
}

const (
	glance   = 100 * time.Millisecond // between two checks for the end of the sync
	patience = time.Minute            // the longest time without data before the end of the sync
)

// measured is a measured process.
type measured struct {
	answers   *json.Encoder
	informers []*watched
	run       []runner
	stop      context.CancelFunc
	began     time.Duration // the CPU time when the events began
}

// serveMeasured runs a measured process. It carries out orders until its input ends.
func serveMeasured(ctx context.Context, in io.Reader, out io.Writer) error {
	m := &measured{answers: json.NewEncoder(out)}
	defer m.end()
	return process.Serve(ctx, in, func(ctx context.Context, o order) error {
		a, err := m.obey(ctx, o)
		a.outcome = outcomeOf(err)
		return m.answers.Encode(a)
	})
}

// end stops the informers.
func (m *measured) end() {
	if m.stop == nil {
		return
	}
	m.stop()
	for _, r := range m.run {
		r.Shutdown()
	}
}

func (m *measured) obey(ctx context.Context, o order) (a answer, err error) {
	switch o.Do {
	case doSync:
		a.Sync, err = m.sync(ctx, o)
		a.Objects = m.objects()
	case doBegin:
		process.Heap() // without the garbage of the sync
		m.began = process.CPU()
	case doEnd:
		a.Events = process.CPU() - m.began
	case doTally:
		a.Tally = m.tally()
	}
	return a, err
}

// sync makes and runs the informers.
func (m *measured) sync(ctx context.Context, o order) (s syncSample, err error) {
	began := process.CPU()
	config, err := o.Target.config(o.Side)
	if err != nil {
		return s, err
	}
	if m.informers, m.run, err = libraryOf(o.Side).informers(config, o.Target.Namespace, o.Kinds); err != nil {
		return s, err
	}
	for _, w := range m.informers {
		if err := w.listen(); err != nil {
			return s, fmt.Errorf("%s: %w", w.kind.Name, err)
		}
	}
	ctx, m.stop = context.WithCancel(ctx)
	for _, r := range m.run {
		r.Start(ctx.Done())
	}
	if err := m.waitSynced(ctx); err != nil {
		return s, err
	}
	s.CPU, s.PeakRSS = process.CPU()-began, process.PeakRSS()
	s.Heap = process.Heap()
	return s, nil
}

// waitSynced waits until all informers and their handlers have synced, and reports the number of received
// objects.
func (m *measured) waitSynced(ctx context.Context) error {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	objects, bytes, since := 0, int64(0), time.Now()
	for {
		missing := m.unsynced()
		if len(missing) == 0 {
			return nil
		}
		if n := received(missing); n != bytes {
			bytes, since = n, time.Now()
		}
		if n := m.objects(); n != objects {
			objects, since = n, time.Now()
			if err := m.answers.Encode(answer{Objects: n}); err != nil {
				return err
			}
		}
		if time.Since(since) > patience {
			return missing[0].stuck()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *measured) unsynced() (all []*watched) {
	for _, w := range m.informers {
		if !w.synced() {
			all = append(all, w)
		}
	}
	return all
}

func (m *measured) objects() (n int) {
	for _, w := range m.informers {
		n += int(w.objects.Load())
	}
	return n
}

func (m *measured) tally() tally {
	t := tally{map[string]int{}, map[string][]uint64{}}
	for _, w := range m.informers {
		t.Objects[w.kind.Name], t.Versions[w.kind.Name] = w.tally()
	}
	return t
}
