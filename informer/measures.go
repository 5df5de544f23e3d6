package informer

import (
	"sync"
	"time"
)

const (
	// momentEvery is how many seconds are between two moments of the history.
	momentEvery = 5
	mostMoments = int(keepFor/time.Second) / momentEvery
)

// measures are what an informer measures for those who inspect it, less than 64 kB of
// them. What handlers take is measured by their stopwatches. None of it is guarded by
// the store's lock, or a handler's: an index function or a handler that is stuck keeps nobody
// from looking.
type measures struct {
	clock  *clock
	recent recentEvents
	weight weighing

	mu      sync.Mutex
	marks   marks
	moments ring[Moment]
	events  uint64 // that there were at the last moment
}

func newMeasures() *measures {
	clock := newClock()
	return &measures{clock: clock, recent: recentEvents{clock: clock}, moments: newRing[Moment](mostMoments), marks: newMarks()}
}

// measured returns the measures, which are taken from now on.
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

// measureIn lets the measures have a goroutine for as long as a run lasts, where somebody
// inspects the informer. The caller holds mu.
func (c *core) measureIn(run *run) {
	if m := c.measures.Load(); m != nil {
		run.handlers.Go(func() { c.tick(run, m) })
	}
}

// tick takes the measures that are taken each second.
func (c *core) tick(run *run, m *measures) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	before := m.clock.now()
	for n := 1; ; n++ {
		select {
		case <-t.C:
		case <-run.ctx.Done():
			return
		}
		now := m.clock.tick()
		m.mark(c.processor.log.End(), now)
		c.processor.pass(before)
		before = now
		c.weigh(&m.weight)
		if n%momentEvery == 0 {
			m.note(c.moment(m))
		}
	}
}

// mark notes the position that the log has come to.
func (m *measures) mark(position uint64, now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.marks.add(position, now)
}

// lag is [HandlerMeasures].Lag of the handler that a feed is of.
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

// moment returns how the informer is now.
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

// note adds a moment to the history. Its events are all that there were ever.
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
