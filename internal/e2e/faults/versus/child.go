package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// task is what a measured process runs.
type task struct {
	Tidemark  bool
	Informers subject
	Fields    fields
	Lists     bool // LIST, and not WatchList
	Wired     bool // tidemark reads what comes before it is decoded
	Handlers  int  // of each informer

	Host, Token, CAFile    string
	CPUProfile, MemProfile string // files
}

// order is what a measured process does next: it starts to measure, or it tells
// what it measured once it has seen the pods at a round.
type order struct {
	Begin bool
	Round string // of the annotation to wait for; empty for the first sync
	Pods  int    // how many have it
	Total int    // how many objects there are
	Calls int    // how many calls of handlers there have been since Begin, at least
}

// glance is how often a process looks whether the order is done, where nothing tells it.
func (o order) glance() time.Duration {
	if o.Round == "" {
		return glance
	}
	return rareGlance
}

// sample is what was measured.
type sample struct {
	Wall, CPU  time.Duration
	Peak, Heap uint64
	Calls      int64
	Events     int // that the CPU time was spent on, where it is by event
	// Bare tells that no object has managedFields. It is looked at where they
	// were to go.
	Bare bool
	// Sorted: since updates were written, and since their bytes came.
	Latencies, Own []time.Duration
	Error          string
}

// child is a measured process at work.
type child struct {
	task
	arrival   arrival
	informers []*watched
	watchers  []*watcher
	calls     atomic.Int64
	began     time.Time
	cpu       time.Duration
	profile   *profile

	mu      sync.Mutex
	rounds  map[string]map[string]bool // pods that the first handlers have seen, by round
	changed chan struct{}              // has a token when something was seen
}

const (
	// patience is how long an order may take.
	patience = 5 * time.Minute
	// glance is how often a process looks whether it has synced, and rareGlance how
	// often whether an order is done that handlers tell of. To wake up is CPU time that
	// is measured: at every 5 ms it came to 200 ms of the 9 s in which a relist waits for
	// its server, a quarter of what tidemark takes.
	glance     = 50 * time.Millisecond
	rareGlance = 500 * time.Millisecond
)

// serve is the measured process: it takes orders until there are no more.
func serve(ctx context.Context, text string, in io.Reader, out io.Writer) error {
	klog.SetLogger(klog.Logger{}) // it loses its server on purpose
	c := &child{rounds: map[string]map[string]bool{}, changed: make(chan struct{}, 1)}
	if err := json.Unmarshal([]byte(text), &c.task); err != nil {
		return err
	}
	c.profile = &profile{cpuFile: c.CPUProfile, memFile: c.MemProfile}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		s, err := c.obey(ctx, o)
		if err != nil {
			s.Error = err.Error()
		}
		if err := answers.Encode(s); err != nil {
			return err
		}
	}
}

func (c *child) obey(ctx context.Context, o order) (sample, error) {
	if o.Begin {
		return sample{}, c.begin()
	}
	if c.informers == nil {
		if err := c.start(ctx); err != nil {
			return sample{}, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errTooLong)
	defer cancel()
	ticker := time.NewTicker(o.glance())
	defer ticker.Stop()
	for !c.done(o) {
		select {
		case <-c.changed:
		case <-ticker.C:
		case <-ctx.Done():
			return sample{}, context.Cause(ctx)
		}
	}
	s, err := c.measured()
	if err != nil {
		return s, err
	}
	return s, c.verify(o, &s)
}

// begin starts a section: what was before counts no more.
func (c *child) begin() error {
	runtime.GC()
	runtime.GC()
	for _, w := range c.watchers {
		w.mu.Lock()
		w.latencies, w.own = nil, nil
		w.mu.Unlock()
	}
	c.calls.Store(0)
	resetPeak()
	if err := c.profile.start(); err != nil {
		return err
	}
	c.began, c.cpu = time.Now(), cpuTime()
	return nil
}

func (c *child) measured() (sample, error) {
	s := sample{Wall: time.Since(c.began), CPU: cpuTime() - c.cpu, Peak: peak(self), Calls: c.calls.Load()}
	c.profile.stop()
	for _, w := range c.watchers {
		w.mu.Lock()
		s.Latencies, s.Own = append(s.Latencies, w.latencies...), append(s.Own, w.own...)
		w.mu.Unlock()
	}
	slices.Sort(s.Latencies)
	slices.Sort(s.Own)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
	runtime.KeepAlive(c)
	return s, c.profile.write()
}

// verify looks at the stores when all is measured: what it asks for are things
// that tidemark has to make.
func (c *child) verify(o order, s *sample) error {
	n := 0
	for _, w := range c.informers {
		n += len(w.informer.GetStore().ListKeys())
	}
	if n != o.Total {
		return fmt.Errorf("there are %d objects in the stores, not %d", n, o.Total)
	}
	if c.Fields == kept {
		return nil
	}
	s.Bare = c.bare()
	if c.Fields == stripped && !s.Bare {
		return errKept
	}
	return nil
}

// bare tells whether no object has managedFields.
func (c *child) bare() bool {
	for _, w := range c.informers {
		for _, obj := range w.informer.GetStore().List() {
			if len(obj.(metav1.Object).GetManagedFields()) > 0 {
				return false
			}
		}
	}
	return true
}

// done tells whether what an order waits for has been seen. It is asked often,
// and so costs next to nothing.
func (c *child) done(o order) bool {
	objects, calls := int64(0), int64(o.Calls)
	for _, w := range c.informers {
		if !w.informer.HasSynced() {
			return false
		}
		objects += w.objects.Load()
		if o.Round == "" {
			calls += w.objects.Load() * int64(w.handlers) // each handler is told of each object
		}
	}
	if objects != int64(o.Total) || c.calls.Load() < calls {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return o.Round == "" || len(c.rounds[o.Round]) >= o.Pods
}

// start makes the informers and runs them. Their clients are configured as those
// of somebody who has read nothing.
func (c *child) start(ctx context.Context) (err error) {
	config := &rest.Config{Host: c.Host, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, QPS: -1}
	config.Dial = c.arrival.dial
	if c.informers, err = c.task.informers(config); err != nil {
		return err
	}
	for _, w := range c.informers {
		for h := range w.handlers {
			watcher := &watcher{child: c, of: w, first: h == 0}
			if _, err := w.informer.AddEventHandler(watcher.handler()); err != nil {
				return err
			}
			c.watchers = append(c.watchers, watcher)
		}
	}
	for _, w := range c.informers {
		go w.informer.RunWithContext(ctx)
	}
	return nil
}
