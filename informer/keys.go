package informer

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// HandleKeys calls h with the key of each changed object, and first with all keys of the initial state. A
// controller passes the Add of its work queue:
//
//	pods.HandleKeys(queue.Add, informer.HandlerOptions{Name: "controller"})
//
// h gets one key, that of the stored object, for each change that a [Handler] with the same options gets, in
// the same order. If another object has taken a name, that is two keys. h does not learn what changed, nor
// whether the object belongs to the initial state; [Registration.Synced] shows when the initial state is
// over.
//
// The options are those of any handler. Name defaults to the function's place in the source code. With
// [Latest], the pending changes of an object are merged, as in a work queue, and an object that was added and
// deleted in the meantime is left out. A resync delivers all keys again.
//
// HandleKeys returns [ErrNoHandler] if h is nil, [ErrOutOfRange] for an option out of range, or [ErrStopped].
func (i *Informer[T]) HandleKeys(h func(indexer.Key), o HandlerOptions) (Registration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), ErrNoHandler)
	}
	return i.handle(&keyReceiver{handle: h}, o)
}

// keyReceiver is the receiver of a function that takes keys. It needs no decoded object: the key of a lost
// object comes with the event, and any other object shows its key in its stored form.
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
	if key, ok := object.KeyOf(p.Last(h.Kind)); ok { // false if the stored form cannot be read
		r.handle(key)
	}
}

func (*keyReceiver) Needs(eventlog.Header) (old, now bool) { return false, false }

func (r *keyReceiver) Name() string { return funcsName(r.handle) }
