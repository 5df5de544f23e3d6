package informer

import (
	"sync"
	"time"
)

const (
	// momentEvery is the number of seconds between two moments of the history.
	momentEvery = 5
	mostMoments = int(keepFor/time.Second) / momentEvery
)

// measures holds the measurements of an inspected informer, in less than 64 kB. Each handler's calls
// are timed by its own stopwatch. Readers need neither the store's lock nor a handler's, so a stuck
// index function or handler does not hold them up.
type measures struct {
	clock  *clock
	recent recentEvents
	weight weighing

	mu      sync.Mutex
	marks   marks
	moments ring[Moment]
	events  uint64 // number of events up to the last moment
}

func newMeasures() *measures {
	clock := newClock()
	return &measures{clock: clock, recent: recentEvents{clock: clock}, moments: newRing[Moment](mostMoments), marks: newMarks()}
}

// measured returns the measures. The first call begins the measuring.
func (c *core) measured() *measures {
	if m := c.measures.Load(); m != nil {
		return m
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	m := c.measures.Load()
	if m != nil {
		return m
	}
	m = newMeasures()
	m.marks.add(c.processor.log.End(), m.clock.now())
	m.events = c.tally.events()
	c.processor.clock.Store(m.clock)
	c.decodeTimes.Start()
	c.measures.Store(m)
	if c.phase == running {
		c.measureIn(c.run)
	}
	return m
}

// measureIn starts the measures' goroutine for a run, if the informer is inspected. The caller holds
// mu.
func (c *core) measureIn(run *run) {
	if m := c.measures.Load(); m != nil {
		run.handlers.Go(func() { c.tick(run, m) })
	}
}

// tick takes the periodic measures once a second, until the run ends.
func (c *core) tick(run *run, m *measures) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.C:
		case <-run.ctx.Done():
			return
		}
		m.mark(c.processor.log.End(), m.clock.tick())
		c.weigh(&m.weight)
		if n%momentEvery == 0 {
			m.note(c.moment(m))
		}
	}
}

// mark records the present end of the log.
func (m *measures) mark(position uint64, now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.marks.add(position, now)
}

// lag returns [HandlerMeasures].Lag for the handler of a feed.
func (m *measures) lag(f feed) time.Duration {
	events, initial := f.pending()
	if events == 0 {
		return 0
	}
	if initial > 0 {
		return time.Since(f.started())
	}
	position, _ := f.delivered()
	m.mu.Lock()
	defer m.mu.Unlock()

	at, ok := m.marks.noted(position)
	if !ok {
		return 0
	}
	return m.clock.now() - at
}

// moment returns the present state of the informer. Its Events count from the beginning.
func (c *core) moment(m *measures) Moment {
	st, i := c.Status(), &Inspector{c}
	memory := i.Memory()
	now := Moment{
		At: time.Now(), Events: c.tally.events(), Objects: st.Objects,
		Bytes: memory.Objects + memory.Engine, Staleness: st.Staleness,
	}
	for _, r := range c.processor.all() {
		now.Lag = max(now.Lag, m.lag(r.feed))
	}
	return now
}

// note adds a moment to the history, where Events counts from the previous moment.
func (m *measures) note(now Moment) {
	m.mu.Lock()
	defer m.mu.Unlock()

	now.Events, m.events = now.Events-m.events, now.Events
	m.moments.add(now)
}

// history is [Inspector.History].
func (m *measures) history() []Moment {
	m.mu.Lock()
	defer m.mu.Unlock()

	var all []Moment
	for moment := range m.moments.last(mostMoments) {
		if time.Since(moment.At) <= keepFor {
			all = append(all, *moment)
		}
	}
	return all
}
