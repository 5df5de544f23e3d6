package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// settleTime limits how long a cache may lag behind the server after the end of all faults, because of
// the last back-off and a silent watch after an outage. settleTimeHalfOpen is the limit with a half-open
// watch, which the informer abandons after ten and a half minutes.
const (
	settleTime         = 4 * time.Minute
	settleTimeHalfOpen = 15 * time.Minute
)

var podScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Pod{}, &corev1.PodList{})
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	return s
}()

// violation is the finding of a checker.
type violation struct{ checker, what string }

// world is a plan while it is played. Fields without a lock belong to the driver.
type world struct {
	setup
	plan        plan
	mutant      mutant
	script      bool // the world is a transcript, whose steps are small, so that nothing depends on the scheduler
	model       *model
	trace       trace
	frozen      frozen[*pod]
	alike       alike[*pod]
	byHand      byHandKeys
	rewritten   map[key]bool // objects that the current user write puts into the store unchanged
	storage     informer.Storage
	hot         map[key]*pod // the objects that the mutant returns
	server      *informertest.Server
	sources     []*source
	resource    *resource // nil if the resource is always served
	life        life
	informer    *informer.Informer[*pod]
	running     bool
	revision    int // the server's version
	indexes     int // the number of added indexes
	handlers    []*handler
	cached      map[key]mark                            // the content of the cache after the last step
	callsAtStop map[*handler]int64                      // each handler's calls when the informer was stopped
	over        chan struct{}                           // closed at the end
	began       time.Time                               // when the run began
	waiters     []*waiter                               // calls of WaitDelivered
	touched     map[key]bool                            // objects written by a user since the last comparison
	everTouched map[key]bool                            // objects ever written by a user
	removed     map[key]bool                            // objects removed by a user
	everRemoved map[key]bool                            // objects ever removed by a user
	listsSlowly bool                                    // users have written while lists were in progress
	handwrites  int                                     // the number of objects that users have made
	observers   sync.WaitGroup                          // goroutines that read the status
	onlooker    *kit.Onlooker                           // nil if callbacks do not call Look
	shown       atomic.Pointer[informer.Informer[*pod]] // the informer that callbacks read

	mu         sync.Mutex
	reached    map[string]int // operations, faults and events so far; guarded by mu
	violations []violation    // guarded by mu
	listed     int            // objects in the first lists; guarded by mu
	lists      int            // complete lists; guarded by mu
	refused    int            // streams reported as refused; guarded by mu
}

func newWorld(p plan, s mutant) *world {
	w := &world{setup: p.setup, plan: p, mutant: s, model: newModel(), alike: alike[*pod]{copied: (*pod).DeepCopy}, frozen: frozen[*pod]{fingerprint: fingerprint}, storage: p.setup.packed.storage(s.evictsNothing), hot: map[key]*pod{}, callsAtStop: map[*handler]int64{}, touched: map[key]bool{}, everTouched: map[key]bool{}, removed: map[key]bool{}, everRemoved: map[key]bool{}, over: make(chan struct{}), reached: map[string]int{}}
	w.reach("holds", w.packed)
	w.trace.dropSections = p.setup.lease // the factory's back-offs are random
	for n := range w.sourceCount() {
		w.sources = append(w.sources, newSource(w, n))
	}
	w.serve()
	for _, s := range w.sources {
		for n := range w.initialFailures {
			s.queueFaults(fault{failRequests, 1 + (n+s.number)%len(failures)})
		}
	}
	if w.tenants {
		return w
	}
	if w.lease {
		w.life = newLeased(w.sources[0], w.looking(w.transformer()), w.storage)
		w.onlooker = w.newOnlooker()
		return w
	}
	if w.custom {
		w.resource = &resource{exists: true, open: s.ignoresDenial}
	}
	var sources []reflector.Source
	for _, s := range w.sources {
		sources = append(sources, s.of())
	}
	w.life = newOwned(sources, informer.Options[*pod]{
		Name: "pods", Indexes: w.indexed(), Transform: w.looking(w.transformer()), PageSize: w.page,
		Rand: func() float64 { return w.chance }, Observe: w.observe, Storage: w.storage,
	})
	w.onlooker = w.newOnlooker()
	return w
}

// serve starts an empty server.
func (w *world) serve() {
	old := w.server
	w.revision = 1
	w.server = informertest.New(informertest.Options{
		Scheme: podScheme, BookmarkInterval: w.bookmarks, NoWatchList: w.noStream, NoWatchCache: w.noCache,
	})
	for _, s := range w.sources {
		s.serve(w.server)
	}
	if old != nil {
		old.Close()
	}
}

var errFrail = errors.New("poisonous")

func (w *world) transformer() func(*pod) (*pod, error) {
	if strip := strips[w.transform]; strip != nil {
		return func(p *pod) (*pod, error) {
			strip(p)
			return p, nil
		}
	}
	if poisons[w.transform] != nil {
		return func(p *pod) (*pod, error) {
			switch p.Labels["poison"] {
			case "error":
				return nil, errFrail
			case "panic":
				panic(errFrail)
			case "nil":
				return nil, nil //nolint:nilnil // like a careless transform
			}
			if w.transform == renames {
				alias(p)
			}
			return p, nil
		}
	}
	return nil
}

// strips are transforms that remove part of an object's identity.
var strips = map[string]func(*pod){
	"strip":          func(p *pod) { p.UID, p.ResourceVersion, p.ManagedFields = "", "", nil },
	"strip UIDs":     func(p *pod) { p.UID = "" },
	"strip versions": func(p *pod) { p.ResourceVersion = "" },
	"strip some": func(p *pod) { // for every other version
		if markOf(p).serial%2 == 0 {
			p.UID, p.ResourceVersion = "", ""
		}
	},
}

// indexed returns the informer's first indexes.
func (w *world) indexed() []indexer.Index[*pod] {
	all := []indexer.Index[*pod]{{Name: "node", Append: w.byNode}, refs.ByOwner[*pod](), refs.ByReference[*pod]()}
	if w.frail {
		all = append(all, indexer.Index[*pod]{Name: "frail", Append: byFrail})
	}
	return all
}

func (w *world) byNode(values []string, p *pod) []string {
	w.look("index function")
	if w.mutant.unstableIndex && markOf(p).serial%3 == 0 {
		return append(values, "nowhere")
	}
	return append(values, nodeOf(p)...)
}

func nodeOf(p *pod) []string { return []string{p.Spec.NodeName} }

func byFrail(values []string, p *pod) []string {
	if p.Labels["unindexed"] != "" {
		panic("unindexed")
	}
	return append(values, p.Labels["app"])
}

// observe records the informer's events.
func (w *world) observe(e informer.Event) {
	w.look("observer")
	w.reach("event", fmt.Sprintf("%T", e))
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case reflector.Listed:
		if w.lists++; w.lists <= len(w.sources) {
			w.listed += e.Objects
		}
	case reflector.StreamRefused:
		w.refused++
	}
}

// reach records an occurrence that some world must reach.
func (w *world) reach(sort string, what any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached[fmt.Sprintf("%s %v", sort, what)]++
}

func (w *world) fault(checker, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, violation{checker, fmt.Sprintf(format, args...)})
}

func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.violations) > 0
}

// play plays the whole world, or until the first violation. The caller is in a bubble.
func (w *world) play() {
	w.fillByHand()
	w.startInformer()
	w.addHandler(kinds[0], false)
	synctest.Wait() // the initial state comes before the first step
	for i, s := range w.plan.steps {
		w.trace.step("%d. %v", i, s)
		w.do(s)
		synctest.Wait()
		w.scribble()
		w.checkStep()
		if w.failed() {
			break
		}
	}
	w.end()
}

// checkStep runs the checkers for each step.
func (w *world) checkStep() {
	w.runCheckers(stepCheckers)
}

func (w *world) runCheckers(checkers []worldChecker) {
	for _, c := range checkers {
		for _, what := range c.find(w) {
			w.fault(c.name, "%s", what)
		}
	}
}

// settle ends the faults, waits until the cache equals the server's state, and compares everything.
func (w *world) settle() {
	if !w.running {
		return
	}
	w.reach("operation", settle)
	for _, s := range w.sources {
		s.heal()
	}
	if w.resource != nil {
		w.resource.deny(admitted)
	}
	for _, a := range w.handlers {
		a.unblock(false)
	}
	time.Sleep(time.Millisecond) // for requests that are about to be answered
	w.undoUserWrites()
	began, bound := time.Now(), w.bound()
	for synctest.Wait(); !w.settled() && time.Since(began) < bound; synctest.Wait() {
		time.Sleep(10 * time.Second)
	}
	if w.failed() {
		return
	}
	if w.mutant.changesStored {
		for p := range w.informer.Indexer().All() {
			p.UID += "x" // a field without an index, because otherwise an invariant would break
		}
	}
	w.runCheckers(restCheckers)
	for _, a := range w.handlers {
		if a.blocks {
			a.unblock(true)
		}
	}
	clear(w.touched)
	w.traceStore()
}

// bound returns how long the cache may lag behind if silent streams are the only remaining fault.
func (w *world) bound() time.Duration {
	for _, s := range w.sources {
		for _, stream := range s.open() {
			if stream.silent.Load() {
				return settleTimeHalfOpen
			}
		}
	}
	return settleTime
}

func (w *world) settled() bool {
	return kit.Closed(w.informer.Synced()) && len(cacheDiffers(w)) == 0 && len(presence(w)) == 0 && !w.busy()
}

func (w *world) busy() bool {
	for _, a := range w.presentHandlers() {
		if a.inCall() || a.reg.Backlog() != 0 {
			return true
		}
	}
	return false
}

func (w *world) traceStore() {
	var objects []string
	for _, p := range w.all(w.informer) {
		objects = append(objects, spell(p))
	}
	slices.Sort(objects)
	w.trace.addLine("at rest: %v", objects)
}

// send makes a change on the server and records it. While the resource is removed, it does nothing.
func (w *world) send(c change) {
	if !w.lacksResource() {
		w.commit(c)
	}
}

func (w *world) commit(c change) {
	p := c.pod.DeepCopy()
	if w.model.moves(c) {
		w.reach("object", "moved")
	}
	if !c.gone {
		w.model.announce(p)
	}
	var err error
	switch ctx := context.Background(); {
	case c.gone:
		err = w.server.Delete(ctx, p)
	case w.model.live[keyOf(p)] == nil:
		err = w.server.Create(ctx, p)
	default:
		err = w.server.Update(ctx, p)
	}
	if err != nil {
		panic(fmt.Sprintf("the world is invalid: %v", err))
	}
	w.revision++
	w.model.record(c)
}

// version returns the server's version.
func (w *world) version() string { return strconv.Itoa(w.revision) }

// traceStatus traces the informer's status.
func (w *world) traceStatus() {
	st := w.informer.Status()
	w.trace.addLine("version %q, %d objects, %d quarantined, %d relists, %d errors, watching %v, stopped %v",
		st.Version, st.Objects, st.Quarantined, st.Relists, st.Errors, st.Watching, st.Stopped)
	for _, h := range st.Handlers {
		w.trace.addLine("%s: synced %v, %d waiting", h.Name, h.Synced, h.Backlog)
	}
}
