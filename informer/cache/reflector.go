package cache

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// NewReflector returns a reflector from lw into any client-go store. It calls the store's Resync every resync
// period; zero means never. If the store has a transform, the transform runs once for each object.
func NewReflector(lw ListerWatcher, expectedType any, store ReflectorStore, resync time.Duration) *StoreReflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{ResyncPeriod: resync})
}

// NewReflectorWithOptions is [NewReflector] with client-go's options. Backoff sets the delays after failures.
// They start again after two minutes without a failure. Clock times back-offs and resyncs.
func NewReflectorWithOptions(lw ListerWatcher, expectedType any, store ReflectorStore, o ReflectorOptions) *StoreReflector {
	r := &StoreReflector{source: lw, expected: expectedType, store: store, o: o, name: o.Name, description: o.TypeDescription}
	if r.name == "" {
		r.name = callsite()
	}
	if r.description == "" {
		r.description = describeType(expectedType)
	}
	return r
}

// steps returns the delays of client-go's back-off.
func steps(b wait.Backoff) func(step int) time.Duration {
	return func(step int) (delay time.Duration) {
		left := b
		for ; step > 0; step-- {
			done := left.Steps < 1 // the delay no longer grows
			delay = left.Step()
			if done {
				break
			}
		}
		return delay
	}
}

// NewNamedReflector is [NewReflector] with a name for messages.
func NewNamedReflector(name string, lw ListerWatcher, expectedType any, store ReflectorStore, resync time.Duration) *StoreReflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{Name: name, ResyncPeriod: resync})
}

// NewNamespaceKeyedIndexerAndReflector returns an indexer with an index by namespace, and a reflector into
// it.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType any, resync time.Duration) (Indexer, *StoreReflector) {
	x := NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return x, NewReflector(lw, expectedType, x, resync)
}

// storeSettings configure a reflector into a store.
type storeSettings struct {
	name    string
	store   ReflectorStore
	resync  time.Duration
	due     func() bool // decides on each due resync; nil means always
	observe func(informer.Event)
	after   func(time.Duration) <-chan time.Time // waits for the next resync
}

// resyncingReflector is a reflector into a store that it also resyncs.
type resyncingReflector struct {
	*reflector.Reflector
	run *storeRun
}

// storeRun is the run of a reflector into a store.
type storeRun struct {
	resyncs sync.WaitGroup          // counts the goroutine of the resyncs
	end     context.CancelCauseFunc // ends the run
}

// Run returns after the last resync has returned. It returns an error if a resync has ended its goroutine.
func (r *resyncingReflector) Run(ctx context.Context) error {
	ctx, r.run.end = context.WithCancelCause(ctx)
	defer r.run.resyncs.Wait()
	defer r.run.end(nil)
	err := r.Reflector.Run(ctx)
	if cause := context.Cause(ctx); err == nil && errors.Is(cause, indexer.ErrExited) {
		return cause
	}
	return err
}

func newStoreReflector(lw ListerWatcher, expectedType any, s storeSettings, o reflector.Options) *resyncingReflector {
	o.Name = s.name
	o.Observe = func(e reflector.Event) { s.observe(e) }
	o.Type, o.Expect = object.Like(expectedType)
	var sink reflector.Sink
	run := &storeRun{}
	if s.store != nil {
		sink = &storeSink{storeSettings: s, run: run}
	}
	return &resyncingReflector{reflector.New(reflector.FromListerWatcher(lw), sink, o), run}
}

// nameOf returns the first non-empty name, or else the description of the expected object.
func nameOf(expected any, names ...string) string {
	return cmp.Or(append(names, describeType(expected))...)
}
