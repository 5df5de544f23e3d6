package sim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// The operations of users who lease a factory's informers, and of the factory's owner.
const (
	acquireLease operation = "rent"    // a tenant acquires an informer, with a handler of kind n
	addToLease   operation = "hire"    // a handler of kind n is added through a lease
	releaseLease operation = "vacate"  // a lease is released
	startAgain   operation = "launch"  // Start is called with another context
	endContext   operation = "expired" // a context passed to Start ends
	awaitFresh   operation = "freshen" // a tenant calls WaitFresh
)

// tenantMenu is the menu of worlds of leases.
var tenantMenu = []menuItem{
	{write, 25, 6},
	{burst, 4, 60},
	{pass, 10, 50},
	{idle, 4, 4},
	{unblock, 4, 1},
	{settle, 6, 1},
	{cutWatches, 3, 1},
	{compact, 3, 1},
	{failRequests, 3, len(failures)},
	{delayRequests, 3, 8},
	{endWatchEarly, 2, 4},
	{acquireLease, 14, len(kinds)},
	{addToLease, 6, len(kinds)},
	{releaseLease, 14, 1},
	{startAgain, 8, 1},
	{endContext, 8, 1},
	{awaitFresh, 8, 1},
	{pinInformer, 3, len(kinds)},
}

// newTenantPlan draws a world of leases.
func newTenantPlan(seed uint64) plan {
	return drawPlan(seed, tenantMenu, func(s *setup, _ *rand.Rand) {
		s.tenants, s.namespaces, s.page = true, 2, 0
		s.lease, s.blank, s.versionless, s.recurs, s.zones, s.transform, s.frail = false, false, false, false, 0, "", false
	})
}

// tenancy is a world whose informers belong to factories, one per namespace. They live while tenants
// lease or pin them. Only the driver uses it.
type tenancy struct {
	*world
	factories map[string]*factory.Factory
	wishes    map[string]*expectedInformer // the expected informers of the factories
	starts    []*started
	tenants   []*tenant
	fresh     []*freshWait
	began     map[string]namespaceState // the state of a namespace before its informer's current run
}

// tenant is a user of an informer, with a lease or pin, and with handlers.
type tenant struct {
	namespace string
	source    *source
	uses      *expectedInformer    // may have been replaced since
	lease     *factory.Lease[*pod] // nil for a pin
	informer  *informer.Informer[*pod]
	handlers  []*handler
	left      context.Context
	leave     context.CancelFunc
}

func newTenancy(w *world) *tenancy {
	t := &tenancy{world: w, factories: map[string]*factory.Factory{}, wishes: map[string]*expectedInformer{}, began: map[string]namespaceState{}}
	for _, s := range w.sources {
		t.factories[s.namespace] = factory.NewSharedInformerFactoryWithOptions(clientset{sources: w.sources}, 0, factory.WithNamespace(s.namespace), factory.WithStorage(w.storage))
	}
	return t
}

// play plays the whole world, or until the first violation.
func (t *tenancy) play() {
	for i, s := range t.plan.steps {
		t.trace.step("%d. %v", i, s)
		t.doStep(s)
		time.Sleep(time.Millisecond) // wait for the second source, which answers a little later
		synctest.Wait()
		t.checkStep()
		if t.failed() {
			break
		}
	}
	t.end()
}

func (t *tenancy) doStep(s step) {
	r := s.rand()
	var one *tenant
	if len(t.tenants) > 0 {
		one = t.tenants[r.IntN(len(t.tenants))]
	}
	switch {
	case s.op == pinInformer && len(t.tenants) < 5:
		t.pinInformer(s, t.sources[r.IntN(len(t.sources))])
	case s.op == acquireLease && len(t.tenants) < 5:
		t.acquireLease(s, t.sources[r.IntN(len(t.sources))])
	case s.op == addToLease && one != nil && len(one.handlers) < 3:
		t.addHandlerToLease(one, kindOf(s))
	case s.op == releaseLease && one != nil && one.lease != nil:
		t.releaseLease(one)
	case s.op == startAgain && len(t.starts) < 3:
		ctx, cancel := context.WithCancel(context.Background())
		begun := &started{cancel: cancel}
		t.starts = append(t.starts, begun)
		t.launch(begun)
		for _, f := range t.factories {
			f.StartWithContext(ctx)
		}
	case s.op == endContext && len(t.starts) > 0:
		i := r.IntN(len(t.starts))
		ended := t.starts[i]
		t.starts = slices.Delete(t.starts, i, i+1)
		ended.cancel()
		ended.ended = true
	case s.op == awaitFresh && one != nil:
		t.awaitFresh(one)
	case s.op == settle:
		t.settle()
	case slices.Contains([]operation{pinInformer, acquireLease, addToLease, releaseLease, startAgain, endContext, awaitFresh}, s.op):
		return
	default:
		t.do(s)
		return
	}
	t.reach("operation", s.op)
}

// acquireLease adds a tenant with a lease and a handler.
func (t *tenancy) acquireLease(s step, of *source) {
	lease, err := factory.Acquire[*pod](t.factories[of.namespace], factory.Scope{})
	t.must(err)
	one := newTenant(of)
	one.lease, one.informer = lease, lease.Informer()
	one.uses = t.rent(of.namespace)
	t.addIndexAndHandler(one, s)
}

// latest returns the latest context passed to Start that has not ended, or nil.
func (t *tenancy) latest() *started {
	if len(t.starts) == 0 {
		return nil
	}
	return t.starts[len(t.starts)-1]
}

func newTenant(of *source) *tenant {
	one := &tenant{namespace: of.namespace, source: of}
	one.left, one.leave = context.WithCancel(context.Background())
	return one
}

// addIndexAndHandler adds a handler for a new tenant. It also adds the indexes if the informer does not
// have them.
func (t *tenancy) addIndexAndHandler(one *tenant, s step) {
	if !slices.Contains(one.informer.Indexer().Indexes(), "node") {
		if err := one.informer.AddIndexes(t.indexed()...); err != nil {
			t.fault("indexed", "an index cannot be added through a lease: %v", err)
		}
	}
	t.tenants = append(t.tenants, one)
	t.addHandlerToLease(one, kindOf(s))
}

// addHandlerToLease adds a handler. If the informer has stopped, it checks that the informer takes no
// handlers.
func (t *tenancy) addHandlerToLease(one *tenant, k kind) {
	if one.uses.stopped() {
		_, err := one.informer.HandleKeys(func(indexer.Key) {}, informer.HandlerOptions{})
		if !errors.Is(err, informer.ErrStopped) {
			t.fault("joins", "an informer of namespace %s has stopped, but takes a handler: %v", one.namespace, err)
		}
		return
	}
	if a := t.addHandlerTo(one.informer, k, true); a != nil {
		one.handlers = append(one.handlers, a)
	}
}

// releaseLease releases a tenant's lease. Its handlers get no more events.
func (t *tenancy) releaseLease(one *tenant) {
	t.tenants = slices.DeleteFunc(t.tenants, func(other *tenant) bool { return other == one })
	t.vacate(one)
	one.leave()
	if !t.mutant.leaksLease {
		one.lease.Release()
	}
	t.checkLeft(one)
}

// checkLeft checks that the handlers of a former tenant end and get no more events.
func (t *tenancy) checkLeft(one *tenant) {
	for _, a := range one.handlers {
		a.unblock(false)
		if t.mutant.leaksLease || one.lease == nil {
			a.reg.Stop()
		}
		t.within("its lease was released", a, a.reg.Done())
		a.left.Store(true)
		if t.mutant.callsAfterLeave {
			a.handle(event{Kind: informer.Added, New: &pod{}})
		}
	}
}

// wanted reports whether an informer must run.
func (t *tenancy) wanted(namespace string) bool { return t.wishes[namespace].runs() }

// checkStep checks the informers after each step.
func (t *tenancy) checkStep() {
	held := map[string]factory.Held{}
	for namespace, f := range t.factories {
		for h := range f.Informers() {
			held[namespace] = h
		}
	}
	for _, s := range t.sources {
		if !t.wanted(s.namespace) {
			t.began[s.namespace] = t.now(s.namespace)
		}
		h, ok := held[s.namespace]
		if t.mutant.status != nil {
			t.mutant.status(&h.Status)
		}
		switch runs := ok && h.Status.Running && !h.Status.Stopped; {
		case t.wanted(s.namespace) && !runs:
			t.fault("tenants", "no informer runs for %+v of namespace %s", *t.wishes[s.namespace], s.namespace)
		case !t.wanted(s.namespace) && (runs || len(s.open()) > 0):
			t.fault("tenants", "the informer of namespace %s runs without users", s.namespace)
		}
		switch w := t.wishes[s.namespace]; {
		case w == nil && ok:
			t.fault("held", "the informer of namespace %s is kept without users", s.namespace)
		case w != nil && (!ok || h.Pinned != w.pinned || h.Users != w.users):
			t.fault("held", "the informer of namespace %s exists: %v, pinned %v, with %d users, want %+v", s.namespace, ok, h.Pinned, h.Users, *w)
		}
	}
	t.checkFresh()
}

// namespaceState is the content of a namespace at a time.
type namespaceState struct {
	since int          // the number of earlier changes
	was   map[key]mark // the objects
}

func (t *tenancy) now(namespace string) namespaceState {
	m := namespaceState{len(t.model.log), map[key]mark{}}
	for k, p := range t.model.live {
		if k.Namespace == namespace {
			m.was[k] = markOf(p)
		}
	}
	return m
}

// settle ends the faults, and waits until all running informers equal the server's state.
func (t *tenancy) settle() {
	for _, s := range t.sources {
		s.heal()
	}
	for _, a := range t.handlers {
		a.unblock(false)
	}
	time.Sleep(time.Millisecond)
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(10 * time.Second) {
		if synctest.Wait(); len(t.differences()) == 0 && !t.waitsForState() {
			break
		}
	}
	for _, what := range t.differences() {
		t.fault("converges", "%s", what)
	}
	if t.waitsForState() {
		t.fault("fresh", "WaitFresh has not returned")
	}
	t.checkFresh()
	for _, a := range t.handlers {
		a.unblock(a.blocks && !a.left.Load())
	}
}

// waitsForState reports whether a tenant waits for a running informer.
func (t *tenancy) waitsForState() bool {
	return slices.ContainsFunc(t.fresh, func(f *freshWait) bool { return f.of.uses.runs() && !kit.Closed(f.returned) })
}

// differences returns the differences between the server and the running informers or their handlers.
func (t *tenancy) differences() (problems []string) {
	for _, one := range t.tenants {
		if !one.uses.runs() {
			continue
		}
		want, stored := t.now(one.namespace).was, map[key]mark{}
		for p := range one.informer.Indexer().All() {
			stored[keyOf(p)] = markOf(p)
		}
		if !maps.Equal(want, stored) {
			problems = append(problems, fmt.Sprintf("namespace %s has %v, but the server has %v", one.namespace, stored, want))
		}
		for _, a := range one.handlers {
			if known := a.knows(); a.reg.Backlog() == 0 && !kit.Closed(a.reg.Done()) && !maps.Equal(known, want) || !kit.Closed(a.reg.Done()) && a.inCall() {
				problems = append(problems, fmt.Sprintf("%v of namespace %s knows %v, but the server has %v", a, one.namespace, known, want))
			}
		}
	}
	return problems
}

func (a *handler) knows() map[key]mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := map[key]mark{}
	for k, p := range a.known {
		known[k] = markOf(p)
	}
	return known
}

// leaveAtEnd makes a tenant leave at the end of the world.
func (t *tenancy) leaveAtEnd(one *tenant) {
	if one.lease != nil {
		t.releaseLease(one)
		return
	}
	t.tenants = slices.DeleteFunc(t.tenants, func(other *tenant) bool { return other == one })
	one.leave()
	t.checkLeft(one)
}

// end compares everything again, and releases all leases.
func (t *tenancy) end() {
	t.trace.step("end")
	if !t.failed() {
		t.settle()
	}
	for len(t.tenants) > 0 {
		t.leaveAtEnd(t.tenants[0])
	}
	if synctest.Wait(); !t.failed() {
		t.checkStep()
	}
	for _, s := range t.starts {
		s.cancel()
	}
	close(t.over)
	for _, f := range t.factories {
		f.Shutdown()
	}
	if synctest.Wait(); !t.failed() { // goroutines may still be returning
		t.runCheckers(stopCheckers[:1])
	}
	t.server.Close()
	synctest.Wait()
}
