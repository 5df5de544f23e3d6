package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// watched is an informer of either library, with a handler that counts.
type watched struct {
	kind     kind
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandlerRegistration
	path     string       // the end of the path of its requests
	bytes    atomic.Int64 // received from the server
	objects  atomic.Int64 // known to the handler

	mu        sync.Mutex // guards the rest
	versions  []uint64   // of the events after the initial state
	lastError error
}

// listen adds the handler before the informer runs.
func (w *watched) listen() (err error) {
	err = w.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lastError = err
	})
	if err != nil {
		return err
	}
	w.handler, err = w.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			w.objects.Add(1)
			if !initial { // initial versions are before every window
				w.count(obj)
			}
		},
		UpdateFunc: func(_, obj any) { w.count(obj) },
		DeleteFunc: func(obj any) {
			w.objects.Add(-1)
			w.count(obj)
		},
	})
	return err
}

// count counts an event by the version of its object. The last known state of an object whose deletion was
// missed does not count.
func (w *watched) count(obj any) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions = append(w.versions, version)
}

func (w *watched) synced() bool { return w.informer.HasSynced() && w.handler.HasSynced() }

// stuck returns the error for an informer that does not sync.
func (w *watched) stuck() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lastError != nil {
		return fmt.Errorf("%s: %w; the last error: %w", w.kind.Name, errStuck, w.lastError)
	}
	return fmt.Errorf("%s: %w", w.kind.Name, errStuck)
}

// tally returns the number of objects in the store, and the versions of the events.
func (w *watched) tally() (objects int, versions []uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.informer.GetStore().ListKeys()), slices.Clone(w.versions)
}
