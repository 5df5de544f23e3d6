package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// ownWorld is a world of own writes while it is played. The informer reads the server over pipes, and
// shows what the program writes. Fields without a lock belong to the driver.
type ownWorld struct {
	plan      ownPlan
	setup     ownSetup
	kind      ownKind
	transform string
	places    []ownPlace
	mutant    ownMutant
	trace     trace

	server        *ownServer
	wire          *ownWire
	follows       *reflector.OwnWrites
	own, other    dynamic.Interface
	informer      informer.Shared
	indexer       *indexer.Indexer[any]
	handlers      []*ownHandler
	registrations []informer.Registration // the registrations of the typed handlers

	stop     func() // stops the run, and waits until it ends
	serials  int
	writes   []*ownWrite
	floors   map[key]floor
	here     map[key]int // by key: the version of an own write that has moved the object, which the store must show
	touched  map[key]bool
	storage  informer.Storage
	alike    alike[kit.APIObject]
	frozen   frozen[kit.APIObject]
	byHand   byHandKeys
	missed   uint64    // the writes that were not shown, according to the status
	doubtful bool      // the server was set back since the last rest, so that it is unknown what the informer has noticed
	quiet    time.Time // the last rest
	ring     *ring
	share    shard.Set // the informer's share
	version  int       // the store's version after the last step
	replicas []*replica

	changed []key // keys delivered to the handler with every event since the last check

	canceled atomic.Int64 // watches that failed because of their client's timeout
	noticed  atomic.Int64 // sources that have noticed a new history, but have not listed it yet

	asked   sync.Mutex
	answers []madeAnswer // guarded by asked
	keyed   []key        // keys that the handler of keys got since the last check; guarded by asked

	violations []violation
	reached    map[string]int
}

func (w *ownWorld) reach(sort string, what any) { w.reached[fmt.Sprintf("%s %v", sort, what)]++ }

func (w *ownWorld) fault(checker, format string, args ...any) {
	w.violations = append(w.violations, violation{checker, fmt.Sprintf(format, args...)})
}

// newOwnWorld makes a world. The caller is in a bubble.
func newOwnWorld(p ownPlan, m ownMutant) *ownWorld {
	w := &ownWorld{
		plan: p, setup: p.setup, kind: ownKinds[p.setup.kind], transform: p.setup.transform, places: ownPlaces[p.setup.sources], mutant: m,
		server:  &ownServer{births: map[int]bool{}, noStream: p.setup.noStream},
		storage: p.setup.packed.storage(m.evictsNothing),
		alike:   alike[kit.APIObject]{copied: func(o kit.APIObject) kit.APIObject { return o.DeepCopyObject().(kit.APIObject) }},
		frozen:  frozen[kit.APIObject]{fingerprint: func(o kit.APIObject) string { return fmt.Sprintf("%+v", o) }},
		ring:    &ring{off: m.offByOne},
		follows: reflector.NewOwnWrites(), reached: map[string]int{}, floors: map[key]floor{}, here: map[key]int{}, touched: map[key]bool{},
	}
	w.reach("holds", w.setup.packed)
	w.reach("timeout", w.setup.timeout)
	w.reach("texts", w.setup.texts)
	w.server.serve(w.kind, 0)
	w.wire = newOwnWire(w.server, w.places, m)
	w.wire.trace, w.wire.texts = &w.trace, w.setup.texts
	w.wire.next = &gateway{ring: w.ring, mutant: m, excused: map[string]*excused{}, Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return w.server.ClientConfig().Dial(ctx, network, address)
	}}}
	w.other = dynamic.NewForConfigOrDie(w.config(nil))
	wrap := w.follows.Wire
	if w.setup.unlinked {
		wrap = reflector.Wire
	}
	linked := w.config(wrap)
	if w.own = dynamic.NewForConfigOrDie(linked); m.unseen {
		w.own = w.other
	}
	o := w.options()
	if w.setup.replicas > 0 {
		w.divideRing(rand.New(rand.NewPCG(p.seed, 9))) //nolint:gosec // a test
		o.Shard, linked.UserAgent, w.share = seat{w.ring, 0}, replicaName(0), w.ring.of(0)
	}
	if w.setup.timeout {
		linked.Timeout = clientTimeout // the program's client has no timeout, because it waits for held answers
	}
	w.informer = informer.JoinShared(w.sourcesOf(linked), w.kind.object, o)
	w.indexer, _ = informer.IndexerOf(w.informer, w.kind.object)
	w.addHandlers()
	return w
}

// clientTimeout is the timeout of a client that has one.
const clientTimeout = 20 * time.Second

// sourcesOf returns the world's sources for clients with a configuration.
func (w *ownWorld) sourcesOf(c *rest.Config) (sources []func() (reflector.Source, error)) {
	for _, p := range w.places {
		source := w.kind.source(c, p.namespace)
		if p.selector != "" {
			source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector = p.selector }
		}
		sources = append(sources, func() (reflector.Source, error) { return source, nil })
	}
	return sources
}

// config returns the configuration for clients of the current server.
func (w *ownWorld) config(wrap func(http.RoundTripper) http.RoundTripper) *rest.Config {
	c := w.server.ClientConfig()
	c.Dial, c.Transport, c.WrapTransport = nil, w.wire, wrap
	return c
}

func (w *ownWorld) options() informer.Options[any] {
	r := rand.New(rand.NewPCG(w.plan.seed, 5)) //nolint:gosec // a test
	var turn sync.Mutex
	o := informer.Options[any]{
		Name:    "own",
		Indexes: []indexer.Index[any]{{Name: "zone", Append: func(values []string, o any) []string { return append(values, o.(metav1.Object).GetLabels()["zone"]) }}, refs.ByOwner[any]()},
		Rand: func() float64 {
			turn.Lock()
			defer turn.Unlock()
			return r.Float64()
		},
		Observe: w.observe,
		Storage: w.storage,
	}
	if w.setup.drop {
		o.Drop = []string{"metadata.managedFields"}
	}
	if f := ownTransforms[w.transform]; f != nil {
		o.Transform = func(o any) (any, error) {
			f(o.(metav1.Object))
			return o, nil
		}
	}
	return o
}

func (w *ownWorld) observe(e informer.Event) {
	switch e := e.(type) {
	case reflector.Failed:
		if strings.Contains(e.Err.Error(), errCanceled.Error()) {
			w.canceled.Add(1)
		}
	case reflector.HistoryWentBack:
		w.noticed.Add(1)
	case reflector.Listed:
		if e.Cause == reflector.CauseHistory {
			w.noticed.Add(-1)
		}
	}
}

func (w *ownWorld) synced() <-chan struct{} { return w.informer.HasSyncedChecker().Done() }

// stored returns the content of the store by keys.
func (w *ownWorld) stored() map[key]kit.APIObject {
	all := map[key]kit.APIObject{}
	for o := range w.indexer.All() {
		own := o.(kit.APIObject)
		all[keyOfAny(own)] = w.one(own)
	}
	return w.mutant.store(all)
}

func (w *ownWorld) histories() []*ownHistory {
	return append([]*ownHistory{w.server.history}, w.server.past...)
}

// busy reports whether a handler has unhandled events.
func (w *ownWorld) busy() bool {
	return slices.ContainsFunc(w.registrations, func(r informer.Registration) bool { return r.Backlog() > 0 })
}

func (w *ownWorld) start() {
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := w.informer.Start(ctx)
	must(err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		must(wait())
	}()
	w.stop = func() {
		cancel()
		<-ended
	}
}

// end stops everything.
func (w *ownWorld) end() {
	w.trace.step("end")
	if len(w.violations) == 0 {
		w.settle()
	}
	w.stop()
	w.dropReplicas()
	w.release()
	w.wire.breakAll()
	for _, on := range w.writes {
		<-on.done
	}
	w.server.Close()
	for _, h := range w.histories() {
		h.end()
	}
	w.wire.next.CloseIdleConnections()
	if w.setup.timeout && w.setup.texts {
		time.Sleep(clientTimeout) // client-go does not close the body if it gets a text instead of a watch
	}
	synctest.Wait()
	for _, p := range w.violations {
		w.trace.addLine("%s: %s", p.checker, p.what)
	}
	w.traceTruth()
}

// traceTruth traces the server's states.
func (w *ownWorld) traceTruth() {
	for _, k := range w.server.history.keys() {
		var states []string
		for _, s := range w.server.history.of(k) {
			text := spellOwn(s.object)
			if s.gone {
				text = fmt.Sprintf("gone@%d", s.version)
			}
			states = append(states, text)
		}
		w.trace.addLine("%s was %s", k, strings.Join(states, ", "))
	}
}
