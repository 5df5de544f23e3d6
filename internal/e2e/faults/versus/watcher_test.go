package versus

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// watched is an informer with its handlers.
type watched struct {
	informer cache.SharedIndexInformer
	handlers int
	run      func(context.Context) // runs the informer; if nil, Run does
	objects  atomic.Int64          // the number of objects that the first handler knows
}

// watcher is a handler that records its calls and their times.
type watcher struct {
	child *child
	of    *watched
	first bool // the first handler of its informer

	mu             sync.Mutex
	latencies, own []time.Duration
}

const (
	roundAnnotation = "round"
	sentAnnotation  = "sent" // the write time in nanoseconds
)

// add adds the handler to its informer. The handler counts its calls, and the first one also counts the
// objects.
func (w *watcher) add() error {
	if w.child.Keys && w.child.Tidemark {
		return handleKeys(w.of.informer, func(indexer.Key) { w.count(1) })
	}
	_, err := w.of.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(any, bool) { w.count(1) },
		UpdateFunc: func(old, obj any) { w.updated(time.Now(), old.(metav1.Object), obj.(metav1.Object)) },
		DeleteFunc: func(any) { w.count(-1) },
	})
	return err
}

func (w *watcher) count(by int64) {
	if w.first {
		w.of.objects.Add(by)
	}
	w.child.calls.Add(1)
}

func (w *watcher) updated(now time.Time, old, obj metav1.Object) {
	sent := obj.GetAnnotations()[sentAnnotation]
	// After a relist, client-go sends updates for unchanged objects.
	if nanos, err := strconv.ParseInt(sent, 10, 64); err == nil && sent != old.GetAnnotations()[sentAnnotation] {
		own := w.child.arrival.since(now)
		w.mu.Lock()
		w.latencies, w.own = append(w.latencies, now.Sub(time.Unix(0, nanos))), append(w.own, own)
		w.mu.Unlock()
	}
	if w.first {
		w.child.saw(obj)
	}
	w.child.calls.Add(1)
}
