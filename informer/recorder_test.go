package informer

import (
	"fmt"
	"sync"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// recorder is client-go's handler that writes down what it is told.
type recorder struct {
	mu    sync.Mutex
	lines []string
	raw   []any
}

func (r *recorder) add(line string, raw any) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.lines, r.raw = append(r.lines, line), append(r.raw, raw)
}

func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()

	lines := r.lines
	r.lines, r.raw = nil, nil
	return lines
}

func spoken(obj any) string {
	switch o := obj.(type) {
	case *corev1.Pod:
		if o == nil {
			return "nil"
		}
		return o.Name + "@" + o.ResourceVersion
	case cache.DeletedFinalStateUnknown:
		return fmt.Sprintf("tombstone %s %s", o.Key, spoken(o.Obj))
	}
	return fmt.Sprint(obj)
}

// recorderFuncs is the handler of a recorder.
func recorderFuncs(r *recorder) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if initial {
				r.add("initial "+spoken(obj), obj)
			} else {
				r.add("add "+spoken(obj), obj)
			}
		},
		UpdateFunc: func(old, obj any) { r.add("update "+spoken(old)+" "+spoken(obj), obj) },
		DeleteFunc: func(obj any) { r.add("delete "+spoken(obj), obj) },
	}
}
