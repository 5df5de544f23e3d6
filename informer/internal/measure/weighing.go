package measure

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/heapsize"
)

const (
	// weighEvery is the time between two weighings. weighFor is the time spent on weighing in each second, a
	// hundredth of a CPU.
	weighEvery = time.Minute
	weighFor   = 10 * time.Millisecond
	// weighAtOnce is the number of objects weighed between two looks at the clock.
	weighAtOnce = 16
)

// Memory is the heap memory of an informer, in bytes.
type Memory struct {
	At time.Time // when the objects were measured; zero before the first time
	// Objects is the size of the stored objects, and of the values kept for sharing. It includes Packed and
	// Decoded: the sizes of the packed objects, and of the objects kept decoded within the budget.
	Objects, Packed, Decoded int64
	// Engine is the size of everything else.
	Engine int64
}

// Weighing measures the memory of an informer, a little each second. It looks at the objects one by one,
// without the store's lock. The ticker owns it, except for Last.
type Weighing struct {
	weigher heapsize.Weigher
	packed  int64     // the size of the packed objects weighed so far
	place   int       // of the next object in the store
	began   time.Time // zero between two weighings
	next    time.Time // when the next weighing begins

	shown atomic.Pointer[Memory]
}

// Last returns the result of the last weighing.
func (w *Weighing) Last() Memory {
	if m := w.shown.Load(); m != nil {
		return *m
	}
	return Memory{}
}

// Weighed is the part of an informer that a weighing asks about, in addition to the objects of the store.
type Weighed interface {
	// Stored returns the object in a stored form, and the size of its packed form. The object is nil if it is
	// packed, and the size is 0 in a store of decoded objects.
	Stored(stored any) (obj any, packed int64)
	// CommonBytes returns the size of the data that packed objects have in common, and the size of the
	// objects kept decoded within the budget.
	CommonBytes() (packed, decoded int64)
	// EngineBytes adds the rest of the informer to the weigher, and returns the size of the parts that the
	// weigher does not count.
	EngineBytes(w *heapsize.Weigher) int64
}

// Weigh continues a weighing, or begins one when it is due. The first weighing waits until the store is
// complete. Before that, it would find almost nothing, and show that result for a minute.
func (w *Weighing) Weigh(store *indexer.Writer, complete bool, of Weighed) {
	now := time.Now()
	if w.began.IsZero() {
		if now.Before(w.next) || !complete {
			return
		}
		w.weigher, w.packed, w.began = heapsize.Weigher{}, 0, now
	}
	n := 0
	w.place = store.Scan(w.place, func(stored any) bool {
		obj, packed := of.Stored(stored)
		if w.packed += packed; obj != nil {
			w.weigher.Add(obj)
		}
		n++
		return n%weighAtOnce != 0 || time.Since(now) < weighFor
	})
	if w.place != 0 {
		return
	}
	more := of.EngineBytes(&w.weigher)
	packed, decoded := of.CommonBytes()
	packed += w.packed
	w.shown.Store(&Memory{
		At: now, Objects: w.weigher.Bytes() + packed + decoded, Packed: packed, Decoded: decoded,
		Engine: store.Indexer().Bytes() + more,
	})
	w.weigher, w.began, w.next = heapsize.Weigher{}, time.Time{}, now.Add(weighEvery)
}
