package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// clientgoReceiver delivers to client-go's ResourceEventHandler, which knows
// no delete-and-add for another object under the same name, and is told of
// deletes of objects that it never heard of.
type clientgoReceiver[T any] struct{ handler cache.ResourceEventHandler }

func (r clientgoReceiver[T]) receive(e *event[T], key indexer.Key) {
	switch e.kind {
	case Added:
		r.handler.OnAdd(e.new, e.is(flagInitial))
	case Updated:
		r.handler.OnUpdate(e.old, e.new)
	case Deleted:
		if !e.is(flagLost) {
			r.handler.OnDelete(e.old)
			return
		}
		tombstone := cache.DeletedFinalStateUnknown{Key: key.String()}
		if !e.is(flagUnknown) {
			tombstone.Obj = e.old
		}
		r.handler.OnDelete(tombstone)
	}
}

func (clientgoReceiver[T]) splits() bool   { return false }
func (r clientgoReceiver[T]) name() string { return fmt.Sprintf("%T", r.handler) }

// clientgoRegistration shows a registration as client-go's.
type clientgoRegistration[T any] struct{ registration *registration[T] }

func (r *clientgoRegistration[T]) HasSynced() bool { return closed(r.registration.synced) }

func (r *clientgoRegistration[T]) HasSyncedChecker() cache.DoneChecker {
	return clientgoChecker{"handler " + r.registration.options.Name, r.registration.synced}
}

// ShutdownChan is what cache.ShutDownEventHandler waits for.
func (r *clientgoRegistration[T]) ShutdownChan() <-chan struct{} { return r.registration.Done() }
