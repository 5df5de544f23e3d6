package kit

import (
	"fmt"
	"slices"
	"sync"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Recorder records lines, such as the calls of a handler. The zero value is empty.
type Recorder struct {
	mu      sync.Mutex
	lines   []string
	objects []any
}

// Add records a line and its object.
func (r *Recorder) Add(line string, obj any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.objects = append(r.lines, line), append(r.objects, obj)
}

// Handler returns a handler that records its calls in r: "initial web-1@5", "update web-1@5
// web-1@6".
func (r *Recorder) Handler() cache.ResourceEventHandlerDetailedFuncs {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if initial {
				r.Add("initial "+Text(obj), obj)
			} else {
				r.Add("add "+Text(obj), obj)
			}
		},
		UpdateFunc: func(old, obj any) { r.Add("update "+Text(old)+" "+Text(obj), obj) },
		DeleteFunc: func(obj any) { r.Add("delete "+Text(obj), obj) },
	}
}

// Take waits until all goroutines of the synctest bubble are blocked. It returns the lines since the
// last Take.
func (r *Recorder) Take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines, r.objects = nil, nil
	return lines
}

// Lines returns the lines since the last Take without waiting. It can be used outside of a bubble.
func (r *Recorder) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// Reset discards the lines.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.objects = nil, nil
}

// Sorted is like Take, but sorts the lines. Use it if the order of the calls is undefined.
func (r *Recorder) Sorted() []string {
	lines := r.Take()
	slices.Sort(lines)
	return lines
}

// Objects returns the objects of the lines since the last Take.
func (r *Recorder) Objects() []any {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.objects)
}

// Text returns the name and version of a pod, the key and the pod of a tombstone, or fmt's output for
// other values.
func Text(obj any) string {
	switch o := obj.(type) {
	case *corev1.Pod:
		if o == nil {
			return "nil"
		}
		return o.Name + "@" + o.ResourceVersion
	case cache.DeletedFinalStateUnknown:
		return fmt.Sprintf("tombstone %s %s", o.Key, Text(o.Obj))
	}
	return fmt.Sprint(obj)
}
