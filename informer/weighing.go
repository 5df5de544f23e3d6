package informer

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/heapsize"
)

const (
	// weighEvery is the time between two weighings. weighFor is the time spent on one in each
	// second: a hundredth of a processor.
	weighEvery = time.Minute
	weighFor   = 10 * time.Millisecond
	// weighAtOnce is the number of objects weighed between two looks at the clock.
	weighAtOnce = 16
)

// weighing measures the memory of an informer, a little each second. It looks at objects one after
// the other without the store's lock. Owned by the ticker, except for shown.
type weighing struct {
	meter heapsize.Meter
	place int       // of the next object in the store
	began time.Time // zero between two weighings
	next  time.Time // when the next one begins

	shown atomic.Pointer[Memory]
}

// last returns the result of the last weighing.
func (w *weighing) last() Memory {
	if m := w.shown.Load(); m != nil {
		return *m
	}
	return Memory{}
}

// weigh continues a weighing, or begins one when it is due. The first one waits for the complete
// store: earlier it would find next to nothing, and that result would stand for a minute.
func (c *core) weigh(w *weighing) {
	now := time.Now()
	if w.began.IsZero() {
		if now.Before(w.next) || !c.isSynced() {
			return
		}
		w.meter, w.began = heapsize.Meter{}, now
	}
	n := 0
	w.place = c.writer.Indexer().Scan(w.place, func(obj any) bool {
		w.meter.Add(obj)
		n++
		return n%weighAtOnce != 0 || time.Since(now) < weighFor
	})
	if w.place != 0 {
		return
	}
	engine := c.writer.Indexer().Bytes() + c.processor.bytes() + c.sharing.table.Weigh(&w.meter)
	w.shown.Store(&Memory{At: now, Objects: w.meter.Bytes(), Engine: engine})
	w.meter, w.began, w.next = heapsize.Meter{}, time.Time{}, now.Add(weighEvery)
}

// eventBytes is the size of an event in the log.
const eventBytes = 34

// bytes estimates the size of the undelivered events, without their objects.
func (p *sharedProcessor) bytes() int64 {
	most := 0
	for _, r := range p.all() {
		events, initial := r.feed.pending()
		most = max(most, events-initial) // the initial state is the store's own
	}
	return int64(most) * eventBytes
}
