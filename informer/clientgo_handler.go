package informer

import (
	"cmp"
	"context"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// clientgoReceiver delivers to client-go's ResourceEventHandler. If another object has taken a name, this
// handler gets an update instead of a delete and an add.
type clientgoReceiver struct {
	handler cache.ResourceEventHandler
	logger  *klog.Logger // for panics; nil for the run's logger
}

func (r *clientgoReceiver) CallHandler(b *eventlog.Batch) {
	p, h, key := b.Next()
	switch {
	case h.Kind == eventlog.Updated, h.Is(eventlog.Recreated) && h.Kind == eventlog.Added:
		r.handler.OnUpdate(p.Old, p.New)
	case h.Kind == eventlog.Added:
		r.handler.OnAdd(p.New, h.Is(eventlog.Initial))
	case h.Is(eventlog.Recreated): // an update follows
	case h.Is(eventlog.Lost) && !h.Is(eventlog.LastStored):
		r.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: key.String(), Obj: p.Final()})
	default:
		r.handler.OnDelete(p.Final())
	}
}

// Needs returns false for objects that no function of the handler takes.
func (r *clientgoReceiver) Needs(h eventlog.Header) (old, now bool) {
	funcs, partial := r.handler.(cache.ResourceEventHandlerFuncs)
	switch {
	case h.Kind == eventlog.Updated, h.Is(eventlog.Recreated) && h.Kind == eventlog.Added:
		called := !partial || funcs.UpdateFunc != nil
		return called, called
	case h.Kind == eventlog.Added:
		return false, !partial || funcs.AddFunc != nil
	case h.Is(eventlog.Recreated):
		return false, false
	}
	return !partial || funcs.DeleteFunc != nil, false
}

func (*clientgoReceiver) AtOnce() int    { return 1 }
func (r *clientgoReceiver) Name() string { return handlerName(r.handler) }

func (r *clientgoReceiver) Context(run context.Context) context.Context {
	if r.logger == nil {
		return run
	}
	return klog.NewContext(run, *r.logger)
}

// clientgoRegistration presents a registration as client-go's.
type clientgoRegistration struct {
	core         *engine.Core
	registration *delivery.Registration
}

func (r *clientgoRegistration) HasSynced() bool { return r.registration.HasSynced() }

func (r *clientgoRegistration) HasSyncedChecker() cache.DoneChecker {
	name := checkerName(r.core.Name()) + " + event handler " + r.registration.Name()
	return clientgoChecker{name, r.registration.Synced()}
}

// ShutdownChan returns the channel that cache.ShutDownEventHandler waits for.
func (r *clientgoRegistration) ShutdownChan() <-chan struct{} { return r.registration.Done() }

// handlerName names a handler as client-go does: by its type or, if it consists of functions, by their place
// in the source code.
func handlerName(h cache.ResourceEventHandler) string {
	name := ""
	switch h := h.(type) {
	case cache.ResourceEventHandlerFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case cache.ResourceEventHandlerDetailedFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerDetailedFuncs:
		name = funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	}
	return cmp.Or(name, typeName(h))
}
