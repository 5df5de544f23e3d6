package engine

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"
	"weak"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// A detector finds programs that write into cached objects, which they must not do. It copies each object
// before the program gets it, compares the object with its copy from time to time, and once more when the
// informer stops. The first difference ends the process. A detector is for tests, because the copies take as
// much memory as the objects. Writes of a Quantity's getters do not count.
type detector struct {
	name string

	mu    sync.Mutex
	added []watched // since the last comparison

	watched []watched // only the comparing goroutine uses it
}

// watched is an object and its copy.
type watched struct {
	object weak.Pointer[byte]
	held   any // the object, until the first comparison, because it may be short-lived
	was    runtime.Object
}

const (
	// comparePeriod is the time between two comparisons. While no objects are added, it doubles up to
	// compareRarely. It is at least comparePart times as long as a comparison takes.
	comparePeriod = time.Second
	compareRarely = 30 * time.Second
	comparePart   = 5
	// mostNamed is the number of changed objects that the message names.
	mostNamed = 8
)

// newDetector returns the detector of an informer, or nil unless the environment asks for one. A nil detector
// does nothing.
func newDetector(name string) *detector {
	if !verify.Writes() {
		return nil
	}
	return &detector{name: name}
}

// add watches an object. It skips an object whose copy is not exactly the same. It is safe for concurrent
// use.
func (d *detector) add(obj any) {
	if d == nil {
		return
	}
	o, copies := obj.(runtime.Object)
	v := reflect.ValueOf(obj)
	if !copies || v.Kind() != reflect.Pointer || v.IsNil() {
		return
	}
	was := o.DeepCopyObject()
	if _, differs := difference(v, reflect.ValueOf(was), sameQuantity); differs {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()

	d.added = append(d.added, watched{weak.Make((*byte)(v.UnsafePointer())), obj, was})
}

// start compares periodically until stop is called, and then once more.
func (d *detector) start() (stop func()) {
	if d == nil {
		return func() {}
	}
	stopping, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for stopped, pause := false, comparePeriod; !stopped; {
			select {
			case <-stopping:
				stopped = true
			case <-time.After(pause):
			}
			began := time.Now()
			if pause = min(2*pause, compareRarely); d.compare() > 0 {
				pause = comparePeriod
			}
			pause = max(pause, comparePart*time.Since(began))
		}
	}()
	return func() {
		close(stopping)
		<-ended
	}
}

// compare panics if a program has written into an object. It returns the number of objects added since the
// last comparison.
func (d *detector) compare() (added int) {
	d.mu.Lock()
	added = len(d.added)
	d.watched = append(d.watched, d.added...)
	d.added = nil
	d.mu.Unlock()

	var changed []foundWrite
	alive := d.watched[:0]
	for _, w := range d.watched {
		p := w.object.Value()
		if p == nil {
			continue
		}
		w.held = nil
		alive = append(alive, w)
		was := reflect.ValueOf(w.was)
		is := reflect.NewAt(was.Type().Elem(), unsafe.Pointer(p))
		if path, differs := difference(is, was, sameQuantity); differs {
			changed = append(changed, foundWrite{path, w.was, is.Interface()})
		}
	}
	clear(d.watched[len(alive):])
	d.watched = alive
	if len(changed) > 0 {
		panic(fmt.Sprintf("cache %s modified: a program has written into %s\nCall DeepCopy before a change. The write came earlier, and not from the stack below.",
			d.name, strings.TrimSuffix(describeWrites(changed), "\n")))
	}
	return added
}

// foundWrite is an object that a program has written into.
type foundWrite struct {
	path string // of the field
	was  runtime.Object
	is   any
}

// describeWrites names some of the writes, and shows what the first one changed.
func describeWrites(all []foundWrite) string {
	var names []string
	for _, c := range all[:min(len(all), mostNamed)] {
		names = append(names, cmp.Or(c.path, "a field")+" of "+nameOf(c.was))
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ") + "\n" + diff.Diff(all[0].was, all[0].is)
}

// nameOf names an object for a message.
func nameOf(obj runtime.Object) string {
	if m := object.Meta(obj); m != nil {
		return object.Key(m).String()
	}
	return fmt.Sprintf("a %T", obj)
}

// sameQuantity reports whether two Quantities are the same number, even if getters have written into them.
func sameQuantity(a, b resource.Quantity) bool { return a.Format == b.Format && a.Cmp(b) == 0 }
