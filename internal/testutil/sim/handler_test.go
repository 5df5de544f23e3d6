package sim_test

import (
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

type event = informer.Change[*corev1.Pod]

// kind is a kind of handler.
type kind struct {
	name          string
	delivery      informer.Delivery
	resync        time.Duration
	slow          time.Duration // the longest call
	blocks        bool          // blocks sometimes, until it is unblocked
	blocksAlways  bool          // blocks on every event
	panics        bool          // panics sometimes
	callsInformer bool          // calls the informer
	leaves        int           // leaves during this call; 0 for never
}

var kinds = []kind{
	{name: "plain"},
	{name: "latest", delivery: informer.Latest},
	{name: "slow", slow: 40 * time.Millisecond},
	{name: "slow latest", delivery: informer.Latest, slow: 200 * time.Millisecond},
	{name: "stuck", blocks: true},
	{name: "stuck latest", delivery: informer.Latest, blocks: true},
	{name: "clumsy", panics: true},
	{name: "clumsy latest", delivery: informer.Latest, panics: true, slow: 20 * time.Millisecond},
	{name: "curious", callsInformer: true},
	{name: "leaver", leaves: 7},
	{name: "restless latest", delivery: informer.Latest, resync: 2 * time.Second, slow: 300 * time.Millisecond},
	{name: "resyncing", resync: 31 * time.Second},
	{name: "resyncing latest", delivery: informer.Latest, resync: 47 * time.Second, slow: 30 * time.Millisecond, callsInformer: true},
}

// heldKinds are kinds of handlers for transcripts. They block on every event.
var heldKinds = []kind{
	{name: "held", blocks: true, blocksAlways: true},
	{name: "held latest", delivery: informer.Latest, blocks: true, blocksAlways: true},
	{name: "held resyncing latest", delivery: informer.Latest, resync: time.Minute, blocks: true, blocksAlways: true},
}

// traced reports whether the handler's events do not depend on the scheduler.
func (k kind) traced() bool { return k.delivery == informer.Every && k.resync == 0 }

// handler is an event handler that builds a store from its events and checks them.
type handler struct {
	kind
	id  int
	w   *world
	reg informer.Registration
	of  *informer.Informer[*pod] // the handler's informer
	// expected is the initial state if it is known: the objects that were stored when the handler was
	// added.
	expected map[key]*pod
	heldBack *event // an event that a mutant delays

	calls    atomic.Int64
	untraced atomic.Bool // its events depend on the scheduler
	busy     atomic.Bool
	left     atomic.Bool // the handler was removed, and must get no more events

	mu         sync.Mutex // guards the rest
	unblocked  chan struct{}
	known      map[key]*pod
	initial    map[key]*pod
	newest     map[key]mark
	isSynced   bool
	userWrites map[key][]userWrite // pending user writes since the last comparison
	now        event               // the newest event
	last       map[key]received    // the last event of each object
	touched    map[key]bool        // objects ever written by a user
	removed    map[key]bool        // objects that a user had removed when the handler joined
	first      *handler            // the world's first handler
}

func (a *handler) String() string { return fmt.Sprintf("handler %d, %s", a.id, a.name) }

// Handle receives an event from the informer, and passes on what the mutant makes of it.
func (a *handler) Handle(c event) {
	got := c
	c.Old, c.New = a.w.one(c.Old), a.w.one(c.New)
	if a.scribbles(got) {
		defer scribbleEvent(got)
	} else {
		a.w.frozen.note(got.Old)
		a.w.frozen.note(got.New)
	}
	if a.w.mutant.deliver == nil {
		a.handle(c)
		return
	}
	for _, lie := range a.w.mutant.deliver(a, c) {
		a.handle(lie)
	}
}

func (a *handler) handle(c event) {
	if !a.busy.CompareAndSwap(false, true) {
		a.w.fault("one at a time", "%v gets two changes at the same time", a)
	}
	defer a.busy.Store(false)
	a.w.look("handler")
	n := a.calls.Add(1)
	a.w.reach("delivered", a.name)
	if a.left.Load() {
		a.w.fault("quiet", "%v gets an event after it left: %s", a, describe(c))
	}
	a.check(c)
	a.behave(c, int(n))
}

// check runs the checkers on an event, and records the event.
func (a *handler) check(c event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.applyUserWrites(c)
	for _, check := range eventCheckers {
		if what := check.find(a, c); what != "" {
			a.w.fault(check.name, "%v: %s: %s", a, what, describe(c))
		}
	}
	a.record(c)
	if (a.traced() || a.w.script) && !a.untraced.Load() {
		a.w.trace.add(fmt.Sprintf("%v, namespace %s", a, subject(c).Namespace), "%s", describe(c))
	}
}

// subject returns the object of an event.
func subject(c event) *pod {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

func (a *handler) record(c event) {
	k := keyOf(subject(c))
	a.now, a.last[k] = c, received{c, time.Now()}
	if m := markOf(subject(c)); a.newest[k].before(m) && !a.mayGoBack(k) {
		a.newest[k] = m
	}
	if c.Kind == informer.Deleted {
		if delete(a.known, k); a.w.zones > 0 {
			delete(a.newest, k) // the object's previous source may be late
		}
		return
	}
	a.known[k] = c.New
	if c.Initial {
		a.initial[k] = c.New
	}
}

// received is an event, and the time of its delivery.
type received struct {
	event event
	at    time.Time
}

// lastBefore returns the last event of an object that was delivered before this moment. It returns no
// event if the handler was removed or a call is in progress.
func (a *handler) lastBefore(k key) (h received) {
	if a.left.Load() || a.busy.Load() {
		return h
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if h := a.last[k]; h.at.Before(time.Now()) {
		return h
	}
	return received{}
}

// sawDelete reports whether the event is a delete, with its final state, of the same object in this
// version or a later one. An object of an earlier version may have been recreated with a UID that
// recurs.
func (h received) sawDelete(p *pod) bool {
	c := h.event
	return c.Kind == informer.Deleted && !c.Lost && c.Old.UID != "" && c.Old.UID == p.UID && !markOf(c.Old).before(markOf(p))
}

// inCall reports whether a call of the handler is in progress that must end before the world is idle.
// Calls of a handler with resyncs do not count, because a resync can be in progress at any time. They do
// count before the handler is synced, and between the lost delete and the add of a recreated object.
func (a *handler) inCall() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy.Load() && (a.resync == 0 || !kit.Closed(a.reg.Synced()) || a.now.Lost)
}

// mayGoBack reports whether an older version may follow a newer one. That can happen only if objects
// move between sources: Latest may merge the delete between the two versions, and any source may replace
// an object that a user has written.
func (a *handler) mayGoBack(k key) bool {
	return a.w.zones > 0 && (a.delivery == informer.Latest || a.touched[k])
}

// behave makes the handler slow, block, panic or leave, according to its kind. Its decisions depend only
// on the event.
func (a *handler) behave(c event, n int) {
	luck := fnv.New32a()
	_, _ = fmt.Fprint(luck, a.id, describe(c)) // writing to a hash never fails
	dice := luck.Sum32() >> 3
	if a.callsInformer {
		a.callInformer(c)
	}
	if a.slow > 0 {
		time.Sleep(time.Duration(dice)%a.slow + time.Duration(a.id))
	}
	if a.blocks && (a.blocksAlways || dice%5 == 0) {
		a.block()
	}
	if a.leaves > 0 && n == a.leaves {
		a.left.Store(true)
		a.reg.Stop()
		return
	}
	if a.panics && dice%7 == 0 {
		panic("clumsy")
	}
}

func (a *handler) block() {
	a.mu.Lock()
	freed := a.unblocked
	a.mu.Unlock()
	if freed != nil {
		<-freed
	}
}

// unblock ends a blocked call. If again is set, later calls continue to block.
func (a *handler) unblock(again bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unblocked != nil {
		close(a.unblocked)
	}
	a.unblocked = nil
	if again {
		a.unblocked = make(chan struct{})
	}
}

// callInformer calls the informer during an event. The store must already have the change.
func (a *handler) callInformer(c event) {
	i := a.of
	p := subject(c)
	if stored, ok := i.Indexer().Get(keyOf(p)); ok && markOf(stored).before(markOf(p)) && markOf(stored).epoch != handEpoch && c.Kind != informer.Deleted && a.w.zones == 0 {
		a.w.fault("stored first", "%v gets %s when the store has %s", a, describe(c), spell(stored))
	}
	_ = a.reg.Backlog()
	_ = i.Status()
	for range i.Indexer().By("node", p.Spec.NodeName) {
		break
	}
	a.ask()
	if a.left.Load() {
		return
	}
	if other, err := i.Handle(informer.HandlerFunc[*pod](func(event) {}), informer.HandlerOptions{Name: "guest"}); err == nil {
		other.Stop()
	}
}

// describe returns an event as text.
func describe(c event) string {
	switch {
	case c.Kind == informer.Updated:
		return fmt.Sprintf("updated %s from %s", spell(c.New), markOf(c.Old))
	case c.Kind == informer.Deleted && c.Lost:
		return "lost " + spell(c.Old)
	case c.Kind == informer.Deleted:
		return "deleted " + spell(c.Old)
	case c.Initial:
		return "initial " + spell(c.New)
	default:
		return "added " + spell(c.New)
	}
}
