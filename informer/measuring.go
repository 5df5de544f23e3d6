package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/heapsize"
)

// measured returns the measures. The first call begins the measuring.
func (c *core) measured() *measure.Measures {
	if m := c.measures.Load(); m != nil {
		return m
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	m := c.measures.Load()
	if m != nil {
		return m
	}
	m = measure.New(c.log.End(), c.tally.Events())
	c.processor.Time(m.Clock)
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
		run.Handlers.Go(func() {
			run.Within(func() { c.tick(run, m) })
		})
	}
}

// tick takes the periodic measures once a second, until the run ends.
func (c *core) tick(run *run, m *measure.Measures) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.C:
		case <-run.Context.Done():
			return
		}
		m.Tick(c.log.End())
		m.Weight.Weigh(c.writer.Indexer(), c.isSynced(), c.engineBytes)
		if n%measure.MomentEvery == 0 {
			m.Note(c.moment(m))
		}
	}
}

// engineBytes returns the size of what the informer holds beside the store, and adds the values kept
// for sharing to the meter.
func (c *core) engineBytes(meter *heapsize.Meter) int64 {
	return c.processor.Bytes() + c.sharing.table.Weigh(meter)
}

// moment returns the present state of the informer. Its Events count from the beginning.
func (c *core) moment(m *measure.Measures) measure.Moment {
	st, memory := c.Status(), m.Weight.Last()
	now := measure.Moment{
		At: time.Now(), Events: c.tally.Events(), Objects: st.Objects,
		Bytes: memory.Objects + memory.Engine, Staleness: st.Staleness,
	}
	for _, r := range c.processor.All() {
		now.Lag = max(now.Lag, r.Lag(m))
	}
	return now
}
