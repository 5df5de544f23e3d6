package cache

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/internal/report"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// DeltaFIFO is client-go's queue of that name, for programs that pop it themselves. Informers use the queue
// of package deltafifo. It collects the deltas of each key until they are popped, and keeps keys in the order
// of their first deltas. All methods are safe for concurrent use, with one consumer. The queue is locked
// during the processing function, so that the known objects change in step with it. So that function must not
// call the queue.
type DeltaFIFO struct {
	name      string
	logger    klog.Logger
	keyFunc   KeyFunc
	known     KeyListerGetter // may be nil
	replaced  DeltaType       // the type of the deltas that Replace queues
	transform TransformFunc   // may be nil; called with no lock held
	synced    chan struct{}   // closed once the initial keys were processed

	mu      sync.Mutex
	changed *sync.Cond // on mu: signals a key to pop, or the end
	// Invariant: order holds the keys of items, each once; no item is empty.
	items map[string]Deltas
	order []string
	// populated is set by the first call that queues something. If that call is a Replace, initial is the
	// number of its keys that have not been processed yet.
	populated bool
	initial   int
	closed    bool
}

var (
	_ QueueWithBatch    = (*DeltaFIFO)(nil)
	_ TransformingStore = (*DeltaFIFO)(nil)
	_ DoneChecker       = (*DeltaFIFO)(nil)
)

// NewDeltaFIFO is [NewDeltaFIFOWithOptions] with two options. Its Replace queues Sync deltas.
func NewDeltaFIFO(key KeyFunc, known KeyListerGetter) *DeltaFIFO {
	return NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: key, KnownObjects: known})
}

// NewDeltaFIFOWithOptions returns an empty queue. The whole string of the key function is the key.
func NewDeltaFIFOWithOptions(o DeltaFIFOOptions) *DeltaFIFO {
	f := &DeltaFIFO{
		name:      o.Name,
		keyFunc:   o.KeyFunction,
		known:     o.KnownObjects,
		replaced:  Sync,
		transform: o.Transformer,
		logger:    klog.Background(),
		synced:    make(chan struct{}),
		items:     make(map[string]Deltas),
	}
	f.changed = sync.NewCond(&f.mu)
	if f.name == "" {
		f.name = "DeltaFIFO"
	}
	if f.keyFunc == nil {
		f.keyFunc = MetaNamespaceKeyFunc
	}
	if o.EmitDeltaTypeReplaced {
		f.replaced = Replaced
	}
	if o.Logger != nil {
		f.logger = *o.Logger
	}
	f.logger = klog.LoggerWithName(f.logger, f.name)
	return f
}

// KeyOf returns the key of an object, of a tombstone, or of the newest delta of a [Deltas].
func (f *DeltaFIFO) KeyOf(obj any) (string, error) {
	if deltas, ok := obj.(Deltas); ok {
		if len(deltas) == 0 {
			return "", KeyError{Obj: obj, Err: ErrZeroLengthDeltasObject}
		}
		obj = deltas.Newest().Object
	}
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return f.keyFunc(obj)
}

// Transformer returns the queue's transform.
func (f *DeltaFIFO) Transformer() TransformFunc { return f.transform }

// Add queues an Added delta.
func (f *DeltaFIFO) Add(obj any) error {
	f.used()
	return f.enqueue(Added, obj)
}

// Update queues an Updated delta.
func (f *DeltaFIFO) Update(obj any) error {
	f.used()
	return f.enqueue(Updated, obj)
}

func (f *DeltaFIFO) enqueue(kind DeltaType, obj any) error {
	key, obj, err := f.prepare(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()

	if kind == Deleted && !f.knows(key) { // the deletion was processed while the transform ran
		return nil
	}
	f.push(key, Delta{Type: kind, Object: obj})
	f.check()
	return nil
}

// Delete queues a Deleted delta. It does nothing if the key is neither queued nor known, because a relist has
// then already queued the deletion.
func (f *DeltaFIFO) Delete(obj any) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	f.used()
	if !f.mayDelete(key) {
		return nil
	}
	return f.enqueue(Deleted, obj)
}

// mayDelete is knows for a caller without mu. It saves the transform for the object of an unknown key.
func (f *DeltaFIFO) mayDelete(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.knows(key)
}

// used records a first call other than Replace. There is no initial population then.
func (f *DeltaFIFO) used() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.populate(0)
}

// knows reports whether a key is queued or known. The caller holds mu.
func (f *DeltaFIFO) knows(key string) bool {
	if _, queued := f.items[key]; queued || f.known == nil {
		return queued
	}
	_, known, err := f.known.GetByKey(key)
	return known || err != nil // if in doubt, report the deletion
}

// prepare returns the key of an object, and the transformed object. The object of a tombstone is already
// transformed.
func (f *DeltaFIFO) prepare(obj any) (key string, prepared any, err error) {
	if key, err = f.KeyOf(obj); err != nil {
		return "", nil, KeyError{Obj: obj, Err: err}
	}
	if _, tombstone := obj.(DeletedFinalStateUnknown); f.transform != nil && !tombstone {
		obj, err = f.transform(obj)
	}
	return key, obj, err
}

// Replace queues a delta for each listed object, and then a tombstone for each queued or known key that is
// not listed. If an object has no key or cannot be transformed, Replace queues nothing.
func (f *DeltaFIFO) Replace(list []any, _ string) error {
	keys := make([]string, len(list))
	objects := make([]any, len(list))
	listed := make(map[string]struct{}, len(list))
	for i, obj := range list {
		var err error
		if keys[i], objects[i], err = f.prepare(obj); err != nil {
			return fmt.Errorf("queue %s: %w", f.name, err)
		}
		listed[keys[i]] = struct{}{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()

	for i, key := range keys {
		f.push(key, Delta{Type: f.replaced, Object: objects[i]})
	}
	f.queueTombstones(listed)
	f.populate(len(f.order))
	f.check()
	return nil
}

// queueTombstones queues a tombstone for each key that is not listed, with its newest queued object or else
// the known object. The caller holds mu.
func (f *DeltaFIFO) queueTombstones(listed map[string]struct{}) {
	for _, key := range slices.Clone(f.order) {
		if _, ok := listed[key]; !ok {
			last := f.items[key].Newest().Object
			if tombstone, ok := last.(DeletedFinalStateUnknown); ok {
				last = tombstone.Obj
			}
			f.pushTombstone(key, last)
		}
	}
	if f.known == nil {
		return
	}
	for _, key := range f.known.ListKeys() {
		if _, ok := listed[key]; ok || len(f.items[key]) > 0 {
			continue
		}
		f.pushTombstone(key, f.knownObject(key))
	}
}

// knownObject returns a known object, or nil if it is gone or cannot be read.
func (f *DeltaFIFO) knownObject(key string) any {
	obj, ok, err := f.known.GetByKey(key)
	switch {
	case err != nil:
		report.Error(klog.NewContext(context.Background(), f.logger), err, "A known object cannot be read", "key", key)
	case !ok:
		f.logger.Info("A known object no longer exists", "key", key)
	default:
		return obj
	}
	return nil
}

func (f *DeltaFIFO) pushTombstone(key string, last any) {
	f.push(key, Delta{Type: Deleted, Object: DeletedFinalStateUnknown{Key: key, Obj: last}})
}

// push appends a delta to those of a key. The caller holds mu.
func (f *DeltaFIFO) push(key string, d Delta) {
	deltas, queued := f.items[key]
	if !queued {
		f.order = append(f.order, key)
	}
	f.items[key] = merged(deltas, d)
	f.changed.Broadcast()
}

// merged appends a delta. If two deletes are consecutive, it keeps the one with the final state.
func merged(deltas Deltas, d Delta) Deltas {
	last := deltas.Newest()
	if last == nil || last.Type != Deleted || d.Type != Deleted {
		return append(deltas, d)
	}
	if _, lost := last.Object.(DeletedFinalStateUnknown); lost {
		*last = d
	}
	return deltas
}

// populate records the first use of the queue. initial is the number of keys in the initial population. The
// caller holds mu.
func (f *DeltaFIFO) populate(initial int) {
	if !f.populated {
		f.populated, f.initial = true, initial
		f.checkSynced()
	}
}

// checkSynced closes synced once the initial population is processed. The caller holds mu.
func (f *DeltaFIFO) checkSynced() {
	if f.populated && f.initial == 0 && !f.HasSynced() {
		close(f.synced)
	}
}

// Resync queues a Sync delta for each known object without a queued delta.
func (f *DeltaFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.known == nil {
		return nil
	}
	for _, known := range f.known.ListKeys() {
		obj := f.knownObject(known)
		if obj == nil {
			continue
		}
		key, err := f.KeyOf(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		if len(f.items[key]) == 0 {
			f.push(key, Delta{Type: Sync, Object: obj})
		}
	}
	return nil
}

// check panics in verify mode if an invariant is broken. The caller holds mu.
func (f *DeltaFIFO) check() {
	if !verify.On {
		return
	}
	verify.That(len(f.order) == len(f.items), "%d keys in order, %d with deltas", len(f.order), len(f.items))
	for _, key := range f.order {
		verify.That(len(f.items[key]) > 0, "no deltas of %q", key)
	}
}
