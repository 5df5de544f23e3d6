package measure

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/heapsize"
)

const (
	// weighEvery is the time between two weighings. weighFor is the time spent on one in each
	// second: a hundredth of a CPU.
	weighEvery = time.Minute
	weighFor   = 10 * time.Millisecond
	// weighAtOnce is the number of objects weighed between two looks at the clock.
	weighAtOnce = 16
)

// Memory is the heap memory of an informer, in bytes.
type Memory struct {
	At time.Time // when the objects were measured; zero before the first time
	// Objects is the size of the stored objects, and of the values kept for sharing.
	Objects int64
	// Engine is the size of everything else.
	Engine int64
}

// Weighing measures the memory of an informer, a little each second. It looks at objects one after
// the other without the store's lock. Owned by the ticker, except for Last.
type Weighing struct {
	weigher heapsize.Weigher
	place   int       // of the next object in the store
	began   time.Time // zero between two weighings
	next    time.Time // when the next one begins

	shown atomic.Pointer[Memory]
}

// Last returns the result of the last weighing.
func (w *Weighing) Last() Memory {
	if m := w.shown.Load(); m != nil {
		return *m
	}
	return Memory{}
}

// Weigh continues a weighing, or begins one when it is due. The first one waits until the store is
// complete: earlier it would find next to nothing, and that result would stand for a minute. engine adds
// what the informer holds beside the store, and returns the size of what the weigher does not count.
func (w *Weighing) Weigh(store *indexer.Indexer[any], complete bool, engine func(*heapsize.Weigher) int64) {
	now := time.Now()
	if w.began.IsZero() {
		if now.Before(w.next) || !complete {
			return
		}
		w.weigher, w.began = heapsize.Weigher{}, now
	}
	n := 0
	w.place = store.Scan(w.place, func(obj any) bool {
		w.weigher.Add(obj)
		n++
		return n%weighAtOnce != 0 || time.Since(now) < weighFor
	})
	if w.place != 0 {
		return
	}
	more := engine(&w.weigher)
	w.shown.Store(&Memory{At: now, Objects: w.weigher.Bytes(), Engine: store.Bytes() + more})
	w.weigher, w.began, w.next = heapsize.Weigher{}, time.Time{}, now.Add(weighEvery)
}
