package conformance_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// nativeSubject is our informer of pods.
type nativeSubject struct {
	informer *informer.Informer[*corev1.Pod]
	*observer
}

var _ subject = nativeSubject{}

// observer keeps what the informer notices, and tells errors on.
type observer struct {
	mu     sync.Mutex
	events []informer.Event
	errs   func(error)
}

func (o *observer) observe(e informer.Event) {
	o.mu.Lock()
	o.events = append(o.events, e)
	errs := o.errs
	o.mu.Unlock()
	if errs == nil {
		return
	}
	switch e := e.(type) {
	case reflector.Failed:
		errs(e.Err)
	case reflector.Skipped:
		errs(e.Err)
	case error:
		errs(e)
	}
}

func (o *observer) onError(h func(error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.errs = h
	return nil
}

// observed returns the events of a type.
func observed[E any](o *observer) (found []E) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func newNative(_ T, lw cache.ListerWatcher, o settings) subject {
	seen := &observer{}
	i := informer.New(reflector.FromListerWatcher(lw), informer.Options[*corev1.Pod]{
		Resync: o.resync, Indexes: nativeIndexes(o.indexes), Observe: seen.observe,
	})
	return nativeSubject{i, seen}
}

// nativeIndexes makes indexes of client-go's. An error is told by panicking,
// which is how a native index fails.
func nativeIndexes(ix cache.Indexers) (indexes []indexer.Index[*corev1.Pod]) {
	for name, f := range ix {
		indexes = append(indexes, indexer.Index[*corev1.Pod]{Name: name, Append: func(values []string, p *corev1.Pod) []string {
			found, err := f(p)
			if err != nil {
				panic(err)
			}
			return append(values, found...)
		}})
	}
	return indexes
}

func (s nativeSubject) handle(t T, h funcs, resync *time.Duration) registration {
	o := informer.HandlerOptions{}
	if resync != nil {
		o.Resync = *resync
	}
	r, err := s.informer.Handle(nativeHandler(h), o)
	require.NoError(t, err)
	return nativeRegistration{r}
}

// nativeHandler tells native changes in client-go's words.
func nativeHandler(h funcs) informer.HandlerFunc[*corev1.Pod] {
	return func(c informer.Change[*corev1.Pod]) {
		switch {
		case c.Kind == informer.Added:
			h.OnAdd(c.New, c.Initial)
		case c.Kind == informer.Updated:
			h.OnUpdate(c.Old, c.New)
		case c.Lost:
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: c.Old.Namespace + "/" + c.Old.Name, Obj: c.Old})
		default:
			h.OnDelete(c.Old)
		}
	}
}

func (s nativeSubject) run(ctx context.Context) { _ = s.informer.Run(ctx) } // nil, or that it is not the first

func (s nativeSubject) synced() bool {
	select {
	case <-s.informer.Synced():
		return true
	default:
		return false
	}
}

func (s nativeSubject) stopped() bool        { return s.informer.Status().Stopped }
func (s nativeSubject) version() string      { return s.informer.Status().Version }
func (s nativeSubject) storeVersion() string { return s.informer.Indexer().Version() }

func (s nativeSubject) get(key string) any {
	obj, ok := s.informer.Indexer().Get(indexer.ParseKey(key))
	if !ok {
		return nil
	}
	return obj
}

func (s nativeSubject) keys() []string { return spelled(s.informer.Indexer().Keys()) }

func (s nativeSubject) by(index, value string) ([]string, error) {
	keys, err := s.informer.Indexer().KeysBy(index, value)
	return spelled(keys), err
}

func spelled(keys []indexer.Key) (names []string) {
	for _, key := range keys {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}

func (s nativeSubject) addIndexers(ix cache.Indexers) error {
	return s.informer.AddIndexes(nativeIndexes(ix)...)
}

func (s nativeSubject) transform(f cache.TransformFunc) error {
	return s.informer.SetTransform(func(p *corev1.Pod) (*corev1.Pod, error) {
		obj, err := f(p)
		if err != nil {
			return nil, err
		}
		return obj.(*corev1.Pod), nil // another type is told as a panic
	})
}

type nativeRegistration struct{ registration informer.Registration }

func (r nativeRegistration) synced() bool {
	select {
	case <-r.registration.Synced():
		return true
	default:
		return false
	}
}

func (r nativeRegistration) remove() error { r.registration.Stop(); return nil }

// native returns the subject's own informer, and what it noticed.
func (w *world) native() nativeSubject { return w.subject.(nativeSubject) }
