package sim_test

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
)

type event = informer.Change[*corev1.Pod]

// kind is a sort of handler.
type kind struct {
	name          string
	delivery      informer.Delivery
	resync        time.Duration
	slow          time.Duration // the longest that it takes
	blocks        bool          // now and then, until it is freed
	blocksAlways  bool          // or at every change
	panics        bool          // now and then
	goexits       bool          // it ends its goroutine, now and then
	callsInformer bool          // calls the informer
	leaves        int           // after so many changes, from within
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
	{name: "exits", goexits: true},
	{name: "exits latest", delivery: informer.Latest, goexits: true, slow: 20 * time.Millisecond},
	{name: "leaver", leaves: 7},
	{name: "restless latest", delivery: informer.Latest, resync: 2 * time.Second, slow: 300 * time.Millisecond},
	{name: "resyncing", resync: 31 * time.Second},
	{name: "resyncing latest", delivery: informer.Latest, resync: 47 * time.Second, slow: 30 * time.Millisecond, callsInformer: true},
}

// heldKinds are the kinds of handlers for transcripts: they stick at every change.
var heldKinds = []kind{
	{name: "held", blocks: true, blocksAlways: true},
	{name: "held latest", delivery: informer.Latest, blocks: true, blocksAlways: true},
	{name: "held resyncing latest", delivery: informer.Latest, resync: time.Minute, blocks: true, blocksAlways: true},
}

// traced tells whether what it is told on its way does not depend on the scheduler.
func (k kind) traced() bool { return k.delivery == informer.Every && k.resync == 0 }

// handler is a handler that makes a store of what it is told.
type handler struct {
	kind
	id  int
	w   *world
	reg informer.Registration
	of  *informer.Informer[*pod] // what it belongs to
	// expected is the initial state where that is known: what was stored when
	// it joined.
	expected map[key]*pod
	heldBack *event // the sabotage's

	calls    atomic.Int64
	untraced atomic.Bool  // the scheduler decides what it is told
	exited   atomic.Int64 // so often it has ended its goroutine
	busy     atomic.Bool
	left     atomic.Bool // it has left: nothing may be told any more

	mu         sync.Mutex // guards the rest
	unblocked  chan struct{}
	known      map[key]*pod
	initial    map[key]*pod
	newest     map[key]mark
	isSynced   bool
	userWrites map[key][]userWrite // by a user, since everything was compared
	now        event               // what it is being told
	last       map[key]received    // what it was told last of an object
	touched    map[key]bool        // by a user, ever
	first      *handler            // the world's first one
}

func (a *handler) String() string { return fmt.Sprintf("handler %d, %s", a.id, a.name) }

// Handle is told a change by the informer, or what the sabotage makes of it.
func (a *handler) Handle(c event) {
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
		a.w.fault("one at a time", "%v is told two changes at a time", a)
	}
	defer a.busy.Store(false)
	n := a.calls.Add(1)
	a.w.reach("told", a.name)
	if a.left.Load() {
		a.w.fault("quiet", "%v is told after it left: %s", a, describe(c))
	}
	a.check(c)
	a.behave(c, int(n))
}

// check holds a change against what is known, and then knows it too.
func (a *handler) check(c event) {
	for _, p := range []*pod{c.Old, c.New} {
		a.w.frozen.note(p)
	}
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

// subject is the object that a change is about.
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
			delete(a.newest, k) // the source that it had moved away from may be late
		}
		return
	}
	a.known[k] = c.New
	if c.Initial {
		a.initial[k] = c.New
	}
}

// received is a change, and when it was told.
type received struct {
	event event
	at    time.Time
}

// lastBefore returns what the actor was told last of an object before now; nothing if it
// has left, or is being told.
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

// sawDelete tells whether the last change is a delete that was seen of an object, whatever
// its version.
func (h received) sawDelete(p *pod) bool {
	c := h.event
	return c.Kind == informer.Deleted && !c.Lost && c.Old.UID != "" && c.Old.UID == p.UID
}

// inCall tells whether the actor is in a call that anybody waits for. One of a resync is
// none, which are so many that there may always be one; but before the handler is synced,
// and where the add of an object that is another one now is to follow.
func (a *handler) inCall() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy.Load() && (a.resync == 0 || !closed(a.reg.Synced()) || a.now.Lost)
}

// mayGoBack tells whether an older version may follow a newer one: where objects move,
// there has been a delete in between, which with Latest is not told, or a user has made the
// object his own, so that any source may put another in its place.
func (a *handler) mayGoBack(k key) bool {
	return a.w.zones > 0 && (a.delivery == informer.Latest || a.touched[k])
}

// behave does what handlers of its kind do. What it does depends on the change
// and not on luck.
func (a *handler) behave(c event, n int) {
	luck := fnv.New32a()
	_, _ = fmt.Fprint(luck, a.id, describe(c)) // a hash takes everything
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
	if a.goexits && dice%7 == 0 {
		a.exited.Add(1)
		runtime.Goexit()
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

// unblock lets the actor go on; from then on it sticks again if it is to.
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

// callInformer calls the informer from within the handler. The store has made the
// change before it was told.
func (a *handler) callInformer(c event) {
	i := a.of
	p := subject(c)
	if stored, ok := i.Indexer().Get(keyOf(p)); ok && markOf(stored).before(markOf(p)) && markOf(stored).epoch != handEpoch && c.Kind != informer.Deleted && a.w.zones == 0 {
		a.w.fault("stored first", "%v is told %s when the store has %s", a, describe(c), spell(stored))
	}
	_ = a.reg.Backlog()
	_ = i.Status()
	for range i.Indexer().By("node", p.Spec.NodeName) {
		break
	}
	if a.left.Load() {
		return
	}
	if other, err := i.Handle(informer.HandlerFunc[*pod](func(event) {}), informer.HandlerOptions{Name: "guest"}); err == nil {
		other.Stop()
	}
}

// describe says what a handler is told.
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
