package informer

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// HandleKeys is [Informer.Handle] for a function that needs only the key of each object that was added,
// updated or deleted, and all keys at the beginning. A controller passes its work queue's Add:
//
//	pods.HandleKeys(queue.Add, informer.HandlerOptions{Name: "controller"})
//
// The function gets one key, that of the object in the store, for each change that a [Handler]
// with the same options gets, in the same order: two for an object that another one under its name has replaced. It is not
// told what the change was, nor whether the object belongs to the initial state; [Registration.Synced] tells
// when the initial state is over.
//
// The options mean what they mean for any handler. Without a Name, the function's place in the source is its
// name. With [Latest], the pending changes of an object are merged, as in a work queue, and an object that came
// and went has no key. A resync delivers all keys again.
//
// HandleKeys returns [ErrNoHandler] if h is nil, [ErrNegative] for an option out of range, or [ErrStopped], as
// Handle does.
func (i *Informer[T]) HandleKeys(h func(indexer.Key), o HandlerOptions) (Registration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), ErrNoHandler)
	}
	return i.handle(&keyReceiver{handle: h}, o)
}

// keyReceiver is the receiver of a function that takes keys. It needs no decoded object: a lost object's key
// comes with its event, and any other object shows its key in its stored form.
type keyReceiver struct {
	oneByOne
	handle func(indexer.Key)
}

func (r *keyReceiver) CallHandler(b *eventlog.Batch) {
	p, h, lost := b.Next()
	if lost != nil {
		r.handle(*lost)
		return
	}
	if key, ok := object.KeyOf(p.Last(h.Kind)); ok { // else the stored form cannot be read
		r.handle(key)
	}
}

func (*keyReceiver) Needs(eventlog.Header) (old, now bool) { return false, false }

func (r *keyReceiver) Name() string { return funcsName(r.handle) }
