package informer

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/heapsize"
)

const (
	// weighEvery is how long lies between two weighings, and weighFor how long one may go on in
	// each second: a hundredth of a processor.
	weighEvery = time.Minute
	weighFor   = 10 * time.Millisecond
	// weighAtOnce is how many objects are weighed between two looks at the clock.
	weighAtOnce = 16
)

// weighing finds out what an informer holds, a little each second. It looks at objects one after
// the other without the store's lock. The ticker's own, but for what is shown.
type weighing struct {
	meter heapsize.Meter
	place int       // in the store, of the next object
	began time.Time // zero between two weighings
	next  time.Time // when the next one begins

	shown atomic.Pointer[Memory]
}

// last returns what the last weighing has found.
func (w *weighing) last() Memory {
	if m := w.shown.Load(); m != nil {
		return *m
	}
	return Memory{}
}

// weigh goes on with a weighing, or begins one when it is time to. The first one begins when the
// store is complete: it would find next to nothing, and stand for a minute.
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

// eventBytes is what an event takes in the log.
const eventBytes = 34

// bytes estimates what the events that wait for handlers take, without their objects.
func (p *sharedProcessor) bytes() int64 {
	most := 0
	for _, r := range p.all() {
		events, initial := r.feed.pending()
		most = max(most, events-initial) // the initial state is the store's own
	}
	return int64(most) * eventBytes
}
