package engine

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/heapsize"
)

// Inspect returns the inspection of the informer. The first call starts it.
func (c *Core) Inspect() *measure.Inspection {
	if m := c.inspection.Load(); m != nil {
		return m
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	m := c.inspection.Load()
	if m != nil {
		return m
	}
	m = measure.New(c.log.End(), measure.Moment{Events: c.tally.events(), Decodes: c.decodes()})
	c.processor.Time(m.Epoch)
	c.inspection.Store(m)
	if c.phase == running {
		c.beginInspection()
	}
	return m
}

// decodeTimes are the number of timed objects, and the time that they took to decode.
type decodeTimes struct {
	sampled atomic.Uint64
	took    atomic.Int64
}

// timed is called with the time that an object took to decode.
func (c *Core) timed(took time.Duration) {
	if c.inspection.Load() != nil {
		c.decodeTimes.sampled.Add(1)
		c.decodeTimes.took.Add(int64(took))
	}
}

// beginInspection starts the inspection's goroutine if the informer is inspected. The caller holds mu.
func (c *Core) beginInspection() {
	if m := c.inspection.Load(); m != nil {
		c.run.Handlers.Go(func() {
			c.run.Within(func() { c.tick(m) })
		})
	}
}

// tick takes the periodic measurements once a second, until the run ends.
func (c *Core) tick(m *measure.Inspection) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.C:
		case <-c.run.Context.Done():
			return
		}
		m.Tick(c.log.End())
		m.Weight.Weigh(c.writer, c.IsSynced(), weighed{c})
		if n%measure.MomentEvery == 0 {
			m.Note(c.moment(m))
		}
	}
}

// weighed is an informer whose memory is being measured.
type weighed struct{ *Core }

// Stored returns a pinned object, which the store always holds decoded, and the size of the packed form.
func (c weighed) Stored(stored any) (obj any, packed int64) {
	if c.packing == nil {
		return stored, 0
	}
	o := unwrap(stored)
	obj, _ = o.Pinned()
	return obj, o.Size()
}

// CommonBytes returns the size of what the packed objects have in common, and of the decoded ones.
func (c weighed) CommonBytes() (packed, decoded int64) {
	if c.packing == nil {
		return 0, 0
	}
	return c.packing.kind.Size(), c.packing.kind.Hot()
}

// EngineBytes returns the size of what the informer holds in addition to the store. It adds the values kept
// for sharing to the weigher.
func (c weighed) EngineBytes(weigher *heapsize.Weigher) int64 {
	return c.processor.Bytes() + c.values.Weigh(weigher)
}

// moment returns the current state of the informer. Its counts include all events so far.
func (c *Core) moment(m *measure.Inspection) measure.Moment {
	memory := m.Weight.Last()
	now := measure.Moment{
		At: time.Now(), Events: c.tally.events(), Decodes: c.decodes(), Objects: c.writer.Indexer().Len(),
		Bytes: memory.Objects + memory.Engine, Staleness: c.status.recorded().Staleness,
	}
	for _, r := range c.processor.All() {
		now.Lag = max(now.Lag, r.Lag(m))
	}
	return now
}
