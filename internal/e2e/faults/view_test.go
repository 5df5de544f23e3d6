package faults

import (
	"fmt"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// view is a handler that checks and counts its calls, and can be slow or stuck.
type view[T informer.Object] struct {
	kit.Checker[T]
	delay time.Duration // the duration of each call
	stuck chan struct{} // calls wait until it is closed; may be nil

	mu      sync.Mutex
	calls   int
	deletes int
}

func newView[T informer.Object](name string) *view[T] {
	return &view[T]{Checker: kit.Checker[T]{Name: name}}
}

// Handle adds a change to the view.
func (v *view[T]) Handle(c informer.Change[T]) {
	if v.stuck != nil {
		<-v.stuck
	}
	if v.delay > 0 {
		time.Sleep(v.delay)
	}
	v.counted(c)
	v.Check(kit.Change[T]{Kind: c.Kind.String(), Old: c.Old, New: c.New, Initial: c.Initial, Lost: c.Lost})
}

// counted counts a call before the checker sees it, so that a test that has waited for the view finds
// the call counted.
func (v *view[T]) counted(c informer.Change[T]) {
	v.mu.Lock()
	defer v.mu.Unlock()

	v.calls++
	if c.Kind == informer.Deleted {
		v.deletes++
	}
}

// count returns how often the handler was called.
func (v *view[T]) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.calls
}

// deletions returns the number of deletes that the handler got.
func (v *view[T]) deletions() int {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.deletes
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
