package sim_test

import (
	"errors"
	"maps"
	"slices"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

func (w *world) startInformer() {
	for _, s := range w.sources {
		s.marked.Store(false)
	}
	w.began = time.Now()
	for _, a := range w.handlers { // before any handler is called
		a.unblock(a.blocks)
	}
	w.informer = w.life.start()
	w.shown.Store(w.informer)
	if w.lease {
		w.indexes++
		if err := w.informer.AddIndexes(w.indexed()...); err != nil {
			panic(err)
		}
	}
	w.running = true
	synctest.Wait()
}

// presentHandlers returns the handlers that have not left.
func (w *world) presentHandlers() []*handler {
	return slices.DeleteFunc(slices.Clone(w.handlers), func(a *handler) bool { return a.left.Load() })
}

// end stops the informer and everything else.
func (w *world) end() {
	w.trace.step("end")
	if !w.failed() {
		w.settle()
	}
	w.stopInformer()
	w.observers.Wait()
	w.life.close()
	if !w.failed() {
		w.runCheckers(endCheckers)
	}
	for _, s := range w.sources {
		s.heal()
	}
	close(w.over)
	w.server.Close()
	synctest.Wait()
}

// stopInformer stops the informer. It must end as soon as the handlers' calls return.
func (w *world) stopInformer() {
	if !w.running {
		return
	}
	w.reach("operation", stop)
	w.running = false
	ended := w.life.stop()
	synctest.Wait()
	w.expectRunningUntil(ended)
	for _, a := range w.handlers { // calls in progress may finish, but no call may begin
		w.callsAtStop[a] = a.calls.Load()
		a.unblock(false)
	}
	for _, a := range w.handlers {
		w.within("it was stopped", a, a.reg.Done())
	}
	w.within("it was stopped", "the informer", ended)
	if _, err := w.informer.HandleKeys(func(indexer.Key) {}, informer.HandlerOptions{}); !errors.Is(err, informer.ErrStopped) {
		w.fault("stops", "the informer has stopped, but takes a handler: %v", err)
	}
	synctest.Wait()
	for _, a := range w.handlers {
		if w.mutant.callsAfterStop {
			a.calls.Add(1)
		}
	}
	w.runCheckers(stopCheckers)
}

// within waits for the end of something, which must happen within a second.
func (w *world) within(since string, what any, ended <-chan struct{}) {
	select {
	case <-ended:
	case <-time.After(time.Second):
		w.fault("stops", "%v has not ended a second after %s", what, since)
		<-ended
	}
}

// addHandler adds a handler.
func (w *world) addHandler(k kind, racing bool) *handler {
	return w.addHandlerTo(w.informer, k, racing)
}

// addHandlerTo adds a handler to an informer.
func (w *world) addHandlerTo(of *informer.Informer[*pod], k kind, racing bool) *handler {
	a := &handler{
		kind: k, id: len(w.handlers), w: w, of: of,
		known: map[key]*pod{}, initial: map[key]*pod{}, newest: map[key]mark{}, userWrites: map[key][]userWrite{}, touched: maps.Clone(w.everTouched), last: map[key]received{},
	}
	a.first = a
	if len(w.handlers) > 0 && !w.tenants {
		a.first = w.handlers[0]
	}
	if a.blocks {
		a.unblocked = make(chan struct{})
	}
	if !racing && kit.Closed(of.Synced()) {
		a.expected = map[key]*pod{}
		for _, p := range w.all(of) {
			a.expected[keyOf(p)] = p
		}
	}
	resync := a.resync
	if resync > 0 {
		resync += time.Duration(a.id) // two resyncs must not be due at the same moment
	}
	ready := make(chan struct{})
	var h informer.Handler[*pod] = informer.HandlerFunc[*pod](func(c event) {
		<-ready // a.reg is set
		a.Handle(c)
	})
	if w.mutant.nilHandler {
		h = nil
	}
	a.removed = maps.Clone(w.removed)
	reg, err := of.Handle(h, informer.HandlerOptions{Name: a.String(), Delivery: a.delivery, Resync: resync})
	if err != nil {
		w.fault("joins", "%v cannot join: %v", a, err)
		return nil
	}
	a.reg = reg
	close(ready)
	w.handlers = append(w.handlers, a)
	return a
}

// removeHandler removes a handler. It gets no more events.
func (w *world) removeHandler(a *handler) {
	a.reg.Stop()
	a.unblock(false) // its call returns, and no other call follows
	w.within("it left", a, a.reg.Done())
	a.left.Store(true)
	if w.mutant.callsAfterLeave {
		a.handle(event{Kind: informer.Added, New: &pod{}})
	}
}
