package informer

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// clientgoReceiver delivers to client-go's ResourceEventHandler, which knows
// no delete-and-add for another object under the same name, and is told of
// deletes of objects that it never heard of.
type clientgoReceiver struct {
	handler cache.ResourceEventHandler
	update  func(old, obj any) // UpdateFunc of a ResourceEventHandlerFuncs; nil for others
	logger  klog.Logger        // for panics
}

// newClientgoReceiver returns the receiver of a handler. Most of them are made
// of functions, and most events are updates: that function is called directly.
func newClientgoReceiver(h cache.ResourceEventHandler, log klog.Logger) *clientgoReceiver {
	r := &clientgoReceiver{handler: h, logger: log}
	if funcs, ok := h.(cache.ResourceEventHandlerFuncs); ok {
		r.update = funcs.UpdateFunc
	}
	return r
}

func (r *clientgoReceiver) receive(p *pair, h header, key *indexer.Key) {
	switch h.kind {
	case Added:
		r.handler.OnAdd(p.new, h.is(flagInitial))
	case Updated:
		if r.update != nil {
			r.update(p.old, p.new)
		} else {
			r.handler.OnUpdate(p.old, p.new)
		}
	case Deleted:
		if !h.is(flagLost) {
			r.handler.OnDelete(p.old)
			return
		}
		tombstone := cache.DeletedFinalStateUnknown{Key: key.String()}
		if !h.is(flagUnknown) {
			tombstone.Obj = p.old
		}
		r.handler.OnDelete(tombstone)
	}
}

func (*clientgoReceiver) splits() bool       { return false }
func (r *clientgoReceiver) name() string     { return handlerName(r.handler) }
func (r *clientgoReceiver) log() klog.Logger { return r.logger }

// loggerOf returns the logger that a receiver's panics go to.
func loggerOf(to receiver) klog.Logger {
	if own, ok := to.(interface{ log() klog.Logger }); ok {
		return own.log()
	}
	return klog.Background()
}

// clientgoRegistration shows a registration as client-go's.
type clientgoRegistration struct{ registration *registration }

func (r *clientgoRegistration) HasSynced() bool { return closed(r.registration.synced) }

func (r *clientgoRegistration) HasSyncedChecker() cache.DoneChecker {
	name := "informer " + r.registration.core.options.Name + ", handler " + r.registration.options.Name
	return clientgoChecker{name, r.registration.synced}
}

// ShutdownChan is what cache.ShutDownEventHandler waits for.
func (r *clientgoRegistration) ShutdownChan() <-chan struct{} { return r.registration.Done() }
