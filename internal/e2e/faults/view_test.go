package faults

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// view is what a handler makes of what it is told, and whether that was
// consistent.
type view[T informer.Object] struct {
	name  string
	delay time.Duration // of each call
	stuck chan struct{} // calls wait until it is closed, unless nil
	// back says that versions may go back, since the server's history does.
	back bool

	mu      sync.Mutex
	objects map[indexer.Key]T
	newest  map[indexer.Key]uint64
	calls   int
	deletes int
	wrong   []string
}

func newView[T informer.Object](name string) *view[T] {
	return &view[T]{name: name, objects: map[indexer.Key]T{}, newest: map[indexer.Key]uint64{}}
}

// Handle takes a change into the view.
func (v *view[T]) Handle(c informer.Change[T]) {
	if v.stuck != nil {
		<-v.stuck
	}
	if v.delay > 0 {
		time.Sleep(v.delay)
	}
	v.mu.Lock()
	defer v.mu.Unlock()

	v.calls++
	switch c.Kind {
	case informer.Added:
		v.added(c.New)
	case informer.Updated:
		v.updated(c.Old, c.New)
	case informer.Deleted:
		v.deleted(c.Old, c.Lost)
	}
}

func (v *view[T]) added(obj T) {
	k := keyOf(obj)
	if _, known := v.objects[k]; known {
		v.complain("added %v, which was there", k)
	}
	v.see(k, obj)
}

func (v *view[T]) updated(old, obj T) {
	k := keyOf(obj)
	known, ok := v.objects[k]
	switch {
	case !ok:
		v.complain("updated %v, which was not there", k)
	case identity(known) != identity(old):
		v.complain("updated %v from %s, but %s was known", k, identity(old), identity(known))
	case obj.GetUID() != old.GetUID():
		v.complain("updated %v from one UID to another", k)
	}
	v.see(k, obj)
}

func (v *view[T]) deleted(last T, lost bool) {
	k := keyOf(last)
	known, ok := v.objects[k]
	switch {
	case !ok:
		v.complain("deleted %v, which was not there", k)
	case known.GetUID() != last.GetUID():
		v.complain("deleted %v of another UID", k)
	case lost && identity(known) != identity(last):
		v.complain("lost %v as %s, but %s was known", k, identity(last), identity(known))
	}
	v.note(k, last)
	v.deletes++
	delete(v.objects, k)
}

func (v *view[T]) see(k indexer.Key, obj T) {
	v.note(k, obj)
	v.objects[k] = obj
}

// note complains of a version that is older than one seen before.
func (v *view[T]) note(k indexer.Key, obj T) {
	version, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		v.complain("%v has no version: %v", k, err)
	}
	if version < v.newest[k] && !v.back {
		v.complain("%v went back from %d to %d", k, v.newest[k], version)
	}
	v.newest[k] = version
}

func (v *view[T]) complain(format string, args ...any) {
	v.wrong = append(v.wrong, v.name+": "+fmt.Sprintf(format, args...))
}

// count returns how often the handler was called.
func (v *view[T]) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.calls
}

// differs tells where the view is not what the cache is. They share the objects.
func (v *view[T]) differs(cached map[indexer.Key]T) error {
	v.mu.Lock()
	defer v.mu.Unlock()

	for k, obj := range cached {
		if seen, ok := v.objects[k]; !ok || seen != obj {
			return fmt.Errorf("%s: of %v the cache has %s, the handler saw %s", v.name, k, identity(obj), identityIf(seen, ok))
		}
	}
	if len(v.objects) != len(cached) {
		return fmt.Errorf("%s: the cache has %d objects, the handler knows %d", v.name, len(cached), len(v.objects))
	}
	return nil
}

func keyOf[T informer.Object](obj T) indexer.Key {
	return indexer.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

func identity[T informer.Object](obj T) string {
	return string(obj.GetUID()) + "@" + obj.GetResourceVersion()
}

func identityIf[T informer.Object](obj T, ok bool) string {
	if !ok {
		return "nothing"
	}
	return identity(obj)
}

func sum(lists, streams, watches int) string { return fmt.Sprintf("%d+%d+%d", lists, streams, watches) }
