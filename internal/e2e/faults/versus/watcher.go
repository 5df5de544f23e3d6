package main

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// watched is an informer with handlers.
type watched struct {
	informer cache.SharedIndexInformer
	handlers int
	objects  atomic.Int64 // that the first handler knows of
}

// watcher is a handler that notes when it was told what.
type watcher struct {
	child *child
	of    *watched
	first bool // of its informer

	mu             sync.Mutex
	latencies, own []time.Duration
}

const (
	roundAnnotation = "round"
	sentAnnotation  = "sent" // when it was sent, in nanoseconds
)

// handler counts the calls and, if it is the first, the objects.
func (w *watcher) handler() cache.ResourceEventHandler {
	count := func(by int64) {
		if w.first {
			w.of.objects.Add(by)
		}
		w.child.calls.Add(1)
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(any, bool) { count(1) },
		UpdateFunc: func(old, obj any) { w.updated(time.Now(), old.(metav1.Object), obj.(metav1.Object)) },
		DeleteFunc: func(any) { count(-1) },
	}
}

func (w *watcher) updated(now time.Time, old, obj metav1.Object) {
	sent := obj.GetAnnotations()[sentAnnotation]
	// After a relist, client-go tells of updates long ago once more.
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

// saw notes the round of an object.
func (c *child) saw(obj metav1.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if round := obj.GetAnnotations()[roundAnnotation]; round != "" {
		if c.rounds[round] == nil {
			c.rounds[round] = map[string]bool{}
		}
		c.rounds[round][obj.GetNamespace()+"/"+obj.GetName()] = true
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}
