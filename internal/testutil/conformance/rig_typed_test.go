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

// typedSubject is our typed informer of pods.
type typedSubject struct {
	informer *informer.Informer[*corev1.Pod]
	*observer
}

var _ subject = typedSubject{}

// observer keeps the informer's events, and passes errors on.
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

// eventsOf returns the events of a type.
func eventsOf[E any](o *observer) (found []E) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func newTyped(_ T, lw cache.ListerWatcher, o settings) subject {
	seen := &observer{}
	i := informer.New(reflector.FromListerWatcher(lw), informer.Options[*corev1.Pod]{
		Resync: o.resync, Indexes: typedIndexes(o.indexes), Observe: seen.observe, Storage: o.storage,
	})
	return typedSubject{i, seen}
}

// typedIndexes converts client-go's index functions. Their errors become panics, because typed index
// functions do not return errors.
func typedIndexes(ix cache.Indexers) (indexes []indexer.Index[*corev1.Pod]) {
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

func (s typedSubject) handle(t T, h funcs, resync *time.Duration) registration {
	o := informer.HandlerOptions{}
	if resync != nil {
		o.Resync = *resync
	}
	r, err := s.informer.Handle(typedHandler(h), o)
	require.NoError(t, err)
	return typedRegistration{r}
}

// typedHandler calls a handler of client-go's interface for typed changes.
func typedHandler(h funcs) informer.HandlerFunc[*corev1.Pod] {
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

func (s typedSubject) run(ctx context.Context) { _ = s.informer.Run(ctx) } // only a second run is an error

func (s typedSubject) synced() bool {
	select {
	case <-s.informer.Synced():
		return true
	default:
		return false
	}
}

func (s typedSubject) stopped() bool                         { return s.informer.Status().Stopped }
func (s typedSubject) storageStatus() informer.StorageStatus { return s.informer.Status().Storage }

func (s typedSubject) version() string      { return s.informer.Status().Version }
func (s typedSubject) storeVersion() string { return s.informer.Indexer().Version() }

func (s typedSubject) get(key string) any {
	obj, ok := s.informer.Indexer().Get(indexer.ParseKey(key))
	if !ok {
		return nil
	}
	return obj
}

func (s typedSubject) keys() []string { return keyTexts(s.informer.Indexer().Keys()) }

func (s typedSubject) by(index, value string) ([]string, error) {
	keys, err := s.informer.Indexer().FindKeys(indexer.Query{Fields: map[string]string{index: value}})
	return keyTexts(keys), err
}

func keyTexts(keys []indexer.Key) (names []string) {
	for _, key := range keys {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}

func (s typedSubject) addIndexers(ix cache.Indexers) error {
	return s.informer.AddIndexes(typedIndexes(ix)...)
}

func (s typedSubject) transform(f cache.TransformFunc) error {
	return s.informer.SetTransform(func(p *corev1.Pod) (*corev1.Pod, error) {
		obj, err := f(p)
		if err != nil {
			return nil, err
		}
		return obj.(*corev1.Pod), nil // panics for another type
	})
}

type typedRegistration struct{ registration informer.Registration }

func (r typedRegistration) synced() bool {
	select {
	case <-r.registration.Synced():
		return true
	default:
		return false
	}
}

func (r typedRegistration) remove() error { r.registration.Stop(); return nil }

// typed returns the subject's typed informer and its observer.
func (w *world) typed() typedSubject { return w.subject.(typedSubject) }
