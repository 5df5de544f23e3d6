package conformance_test

import (
	"fmt"
	"slices"
	"sync"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// told is what a handler does when it is told something. Nil functions do
// nothing.
type told struct {
	add    func(obj any, initial bool)
	update func(old, obj any)
	delete func(obj any)
}

var _ cache.ResourceEventHandler = told{}

func (h told) OnAdd(obj any, initial bool) {
	if h.add != nil {
		h.add(obj, initial)
	}
}

func (h told) OnUpdate(old, obj any) {
	if h.update != nil {
		h.update(old, obj)
	}
}

func (h told) OnDelete(obj any) {
	if h.delete != nil {
		h.delete(obj)
	}
}

// recorder writes down what a handler is told.
type recorder struct {
	mu    sync.Mutex
	lines []string
	raw   []any // what the lines are about
}

func (r *recorder) add(line string, raw any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.raw = append(r.lines, line), append(r.raw, raw)
}

// handler returns the handler that writes here.
func (r *recorder) handler() told {
	return told{
		add: func(obj any, initial bool) {
			if initial {
				r.add("initial "+spoken(obj), obj)
			} else {
				r.add("add "+spoken(obj), obj)
			}
		},
		update: func(old, obj any) { r.add("update "+spoken(old)+" "+spoken(obj), obj) },
		delete: func(obj any) { r.add("delete "+spoken(obj), obj) },
	}
}

// take returns the lines since the last take, once nothing moves any more.
func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines, r.raw = nil, nil
	return lines
}

// sorted is take for what comes in any order.
func (r *recorder) sorted() []string {
	lines := r.take()
	slices.Sort(lines)
	return lines
}

// objects returns what the lines are about.
func (r *recorder) objects() []any {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.raw)
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
