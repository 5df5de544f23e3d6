package sim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// In some worlds of own writes the informer reads a share. Up to three other informers read the rest of the ring:
// they have no handlers, nothing holds their requests, and nobody writes through them. All of them are stopped
// before the ring is divided anew.

// The operations of worlds with shares that other worlds do not have.
const (
	divide     operation = "divide"  // the ring is divided anew, between two runs
	switchGate operation = "gate"    // the server begins or ceases to filter by shard
	refuse     operation = "refuse"  // requests with a shardSelector are refused, or not any more
	recreate   operation = "renew"   // an object is deleted, and created anew under its name
	restart    operation = "restart" // the informers stop, and run again with the same share; the others have none in between
)

// shardMenu has the operations that replace some steps in worlds with shares.
var shardMenu = []operation{divide, divide, switchGate, refuse, recreate, recreate, restart}

// drawShares draws how many informers share the ring, 0 if there are no shares, and by which field. It replaces some
// of the steps, and leaves everything else in the world as it is. Who reads several sources cannot have a share.
func (p *ownPlan) drawShares() {
	r := rand.New(rand.NewPCG(p.seed, 8)) //nolint:gosec // a test
	if len(ownPlaces[p.setup.sources]) > 1 || r.IntN(3) == 0 {
		return
	}
	p.setup.replicas, p.setup.field = 1+r.IntN(4), shard.Field(1+r.IntN(2)) //nolint:gosec // small
	for i := range p.steps {
		if r.IntN(6) == 0 {
			p.steps[i].op = shardMenu[r.IntN(len(shardMenu))]
		}
	}
}

// ring has the shares of a world's informers. Any goroutine may ask it.
type ring struct {
	off    func(shard.Set) shard.Set // by which the mutant's informer is off
	mu     sync.Mutex
	shares []shard.Set // guarded by mu
}

// seat is the assignment of one of the informers.
type seat struct {
	*ring
	n int
}

// Share returns the informer's share.
func (s seat) Share() shard.Set {
	share := s.of(s.n)
	if s.off != nil && s.n == 0 {
		share = s.off(share)
	}
	return share
}

func (g *ring) of(n int) shard.Set {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shares[n]
}

// divideRing divides the ring anew. Half of the cuts are at the hash of an object, or right behind it. Some shares
// have several ranges, and some are empty.
func (w *ownWorld) divideRing(r *rand.Rand) {
	n := w.setup.replicas
	cuts := []uint64{0}
	for range 2*n - 1 {
		cuts = append(cuts, w.cut(r))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	ranges := make([][]shard.Range, n)
	for i, from := range cuts {
		to := uint64(0)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		owner := r.IntN(n)
		ranges[owner] = append(ranges[owner], shard.Range{From: from, To: to})
	}
	var shares []shard.Set
	for _, own := range ranges {
		share, err := shard.Of(w.setup.field, own...)
		must(err)
		shares = append(shares, share)
	}
	w.trace.addLine("the ring: %v", shares)
	w.ring.mu.Lock()
	defer w.ring.mu.Unlock()
	w.ring.shares = shares
}

func (w *ownWorld) cut(r *rand.Rand) uint64 {
	keys := w.server.history.keys()
	switch {
	case r.IntN(2) == 0 || w.setup.field == shard.ByUID && len(keys) == 0:
		return r.Uint64()
	case w.setup.field == shard.ByNamespace:
		return shard.Hash(namespaceOf(r.IntN(2))) + r.Uint64N(2)
	}
	uid := w.server.history.newest(keys[r.IntN(len(keys))]).object.GetUID()
	return shard.Hash(string(uid)) + r.Uint64N(2)
}

// assume is called before a run begins: what holds from now on is what the share of the run reads. Nobody tells
// client-go's handlers of what leaves the store.
func (w *ownWorld) assume(share shard.Set) {
	if share.Equal(w.share) {
		return
	}
	w.reach("share", w.share.Field() != 0)
	w.share = share
	clear(w.floors)
	clear(w.here)
	w.wire.change(func() {
		clear(w.wire.reached)
		w.lists = w.wire.listed[0]
	})
	for _, h := range w.handlers {
		for k, o := range h.known {
			if h.name == "client-go" && !w.holds(o) {
				delete(h.known, k)
			}
		}
	}
}

// holds reports whether an object is in the share of the informer's run.
func (w *ownWorld) holds(o metav1.Object) bool {
	return w.setup.replicas == 0 || w.share.Has(o.GetNamespace(), o.GetUID())
}

// reads reports whether the informer reads a state of an object from a source.
func (w *ownWorld) reads(p ownPlace, s ownState) bool { return p.reads(s) && w.holds(s.object) }

// replica is one of the other informers.
type replica struct {
	n        int
	informer informer.Shared
	indexer  *indexer.Indexer[any]
	stop     func()        // stops the run, and waits for its end
	decodes  uint64        // packed objects decoded before the run
	wasted   atomic.Uint64 // likewise, while it released objects, of which it has nobody to tell
}

// runReplicas starts the other informers. After a call of dropReplicas they are made anew.
func (w *ownWorld) runReplicas() {
	for n := 1; n < w.setup.replicas; n++ {
		if len(w.replicas) < n {
			w.replicas = append(w.replicas, w.newReplica(n))
		}
		w.replicas[n-1].run()
	}
}

func (w *ownWorld) newReplica(n int) *replica {
	c := w.config(reflector.Wire)
	c.Transport, c.UserAgent = w.wire.next, replicaName(n)
	o := w.options()
	o.Name, o.Shard, o.Storage, o.Rand = c.UserAgent, seat{w.ring, n}, w.setup.packed.storage(false), nil
	p := &replica{n: n}
	o.Observe = func(e informer.Event) {
		if _, released := e.(informer.ShareChanged); released {
			wasted := p.informer.Status().Storage.Decodes - p.decodes
			if verify.On { // a store that checks itself decodes objects
				wasted = 0
			}
			p.wasted.Add(wasted + w.mutant.decodesReleases)
		}
	}
	p.informer = informer.JoinShared(w.sourcesOf(c), w.kind.object, o)
	p.indexer, _ = informer.IndexerOf(p.informer, w.kind.object)
	return p
}

// replicaPrefix is the beginning of the names of informers with a share, in their requests.
const replicaPrefix = "replica "

func replicaName(n int) string { return replicaPrefix + strconv.Itoa(n) }

func (p *replica) run() {
	p.decodes = p.informer.Status().Storage.Decodes
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := p.informer.Start(ctx, informer.RunOptions{})
	must(err)
	p.stop = func() {
		cancel()
		must(wait())
	}
}

func (w *ownWorld) stopReplicas() {
	for _, p := range w.replicas {
		p.stop()
	}
}

// dropReplicas stops the other informers for ever.
func (w *ownWorld) dropReplicas() {
	w.stopReplicas()
	w.replicas = nil
}

// doShard plays a step of a world with shares.
func (w *ownWorld) doShard(s step) {
	r := s.rand()
	switch s.op {
	case divide:
		w.pause(func() { w.divideRing(r) })
	case restart:
		w.pause(w.unassign)
	case switchGate:
		w.wire.next.change(func(g *gateway) { g.off = !g.off })
		if r.IntN(2) == 0 {
			w.wire.breakAll() // a server that is restarted with another gate
		}
	case refuse:
		w.wire.next.change(func(g *gateway) {
			if g.code != 0 {
				g.code = 0
				return
			}
			g.code = refusals[r.IntN(len(refusals))]
		})
		w.wire.breakAll()
	case recreate:
		w.recreate(r)
	}
}

// pause stops all informers for a moment. The informer of the world runs afterwards if it has run before.
func (w *ownWorld) pause(meanwhile func()) {
	running := w.running
	if running {
		w.running = false
		w.stop()
	}
	w.stopReplicas()
	synctest.Wait()
	meanwhile()
	w.runReplicas()
	if running {
		w.start()
	}
}

// unassign runs the other informers, which have been stopped, without a share: each run ends by itself.
func (w *ownWorld) unassign() {
	assign := func(shares []shard.Set) (before []shard.Set) {
		w.ring.mu.Lock()
		defer w.ring.mu.Unlock()
		before, w.ring.shares = w.ring.shares, shares
		return before
	}
	shares := assign(make([]shard.Set, w.setup.replicas))
	for _, p := range w.replicas {
		wait, err := p.informer.Start(context.Background(), informer.RunOptions{})
		must(err)
		if err := wait(); !errors.Is(err, shard.ErrField) {
			panic(err)
		}
	}
	assign(shares)
}

// recreate makes somebody else delete an object, and create it anew with another UID: it may be in another share.
func (w *ownWorld) recreate(r *rand.Rand) {
	keys := w.server.history.keys()
	if len(keys) == 0 {
		return
	}
	k := keys[r.IntN(len(keys))]
	c := w.other.Resource(w.kind.kind.GVR).Namespace(k.Namespace)
	ctx := context.Background()
	if now := w.server.history.newest(k); !now.gone {
		if len(now.object.GetFinalizers()) > 0 {
			return
		}
		must(c.Delete(ctx, k.Name, metav1.DeleteOptions{}))
	}
	w.serials++
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.kind.kind.GVK.GroupVersion().String(), "kind": w.kind.kind.GVK.Kind}}
	o.SetName(k.Name)
	o.SetLabels(map[string]string{"zone": fmt.Sprint("z", r.IntN(3))})
	ownedBy(o, "zone")
	o.SetAnnotations(map[string]string{markName: strconv.Itoa(w.serials), "author": "other"})
	_, err := c.Create(ctx, o, metav1.CreateOptions{})
	must(err)
	w.trace.addLine("%s anew", k)
}

// gateway stands between all clients and the server: it is the server's feature gate, and a proxy that may refuse
// requests with a shardSelector.
type gateway struct {
	*http.Transport
	ring   *ring
	mutant ownMutant

	mu      sync.Mutex
	off     bool                // shardSelectors are ignored; guarded by mu
	code    int                 // with which they are refused, 0 for not; guarded by mu
	excused map[string]*excused // by replica; guarded by mu
	wrong   []string            // requests with a wrong shardSelector; guarded by mu
}

// excused says which requests of a replica may have no selector.
type excused struct {
	repeats int       // the next ones, since so many were refused
	until   time.Time // all until then, since one was refused, and granted without a selector
}

func (g *gateway) change(f func(*gateway)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g)
}

const selectorName = "shardSelector"

// RoundTrip sends a request to the server.
func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	q, client := r.URL.Query(), r.UserAgent()
	selects := q.Has(selectorName)
	g.mu.Lock()
	repeats, code, off := g.admit(r.Method, client, q), g.code, g.off
	g.mu.Unlock()
	var answer *http.Response
	switch {
	case selects && code != 0:
		text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d}`, code)
		answer = &http.Response{StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}
	case selects && off:
		r = r.Clone(r.Context())
		q.Del(selectorName)
		r.URL.RawQuery = q.Encode()
		fallthrough
	default:
		sent, err := g.Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		answer = sent
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.excused[client]
	switch refused := slices.Contains(refusals, answer.StatusCode); {
	case e == nil:
	case refused && selects:
		e.repeats++
	case repeats && answer.StatusCode == http.StatusOK:
		e.until = time.Now().Add(10*time.Minute + time.Second)
	}
	return answer, nil
}

// refusals are the codes that say that a request is invalid.
var refusals = []int{http.StatusBadRequest, http.StatusRequestURITooLong, http.StatusUnprocessableEntity, http.StatusRequestHeaderFieldsTooLarge}

// admit checks the selector of a request, and reports whether it repeats another one, which was refused. The
// caller holds mu.
func (g *gateway) admit(method, client string, q url.Values) (repeats bool) {
	n, found := strings.CutPrefix(client, replicaPrefix)
	if method != http.MethodGet || !found {
		return false
	}
	replica, err := strconv.Atoi(n)
	must(err)
	e := g.excused[client]
	if e == nil {
		e = &excused{}
		g.excused[client] = e
	}
	share, selector := g.ring.of(replica), q.Get(selectorName)
	if g.mutant.forgetsSelector {
		selector = ""
	}
	switch {
	case q.Get("limit") == "1": // the question for the newest version
		if selector != "" {
			g.wrong = append(g.wrong, fmt.Sprintf("replica %d asks for the newest version with %s", replica, selector))
		}
	case selector == share.Selector() || selector == "" && time.Now().Before(e.until) || g.mutant.offByOne != nil:
	case selector == "" && e.repeats > 0:
		e.repeats--
		return true
	default:
		g.wrong = append(g.wrong, fmt.Sprintf("replica %d asks with %q, and has the share %v", replica, selector, share))
	}
	return false
}

// requestsWrong returns the requests with a wrong shardSelector.
func requestsWrong(w *ownWorld) (problems []string) {
	w.wire.next.change(func(g *gateway) { problems = slices.Clone(g.wrong) })
	return problems
}

// foreignStored checks that no store has an object outside of its share.
func foreignStored(w *ownWorld) (problems []string) {
	if w.setup.replicas == 0 {
		return nil
	}
	for k, o := range w.all() {
		if w.running && !w.holds(o) && !w.touched[serverKey(k)] {
			problems = append(problems, fmt.Sprintf("the store of %v has %s", w.share, spellOwn(o)))
		}
	}
	for _, p := range w.replicas {
		for o := range p.indexer.All() {
			if own := o.(informertest.Object); !w.ring.of(p.n).Has(own.GetNamespace(), own.GetUID()) {
				problems = append(problems, fmt.Sprintf("the store of replica %d, %v, has %s", p.n, w.ring.of(p.n), spellOwn(own)))
			}
		}
	}
	return problems
}

// decodedForNobody checks that an informer without handlers has decoded no packed object to release it.
func decodedForNobody(w *ownWorld) (problems []string) {
	for _, p := range w.replicas {
		if n := p.wasted.Load(); n > 0 {
			problems = append(problems, fmt.Sprintf("replica %d decoded %d objects while it released some", p.n, n))
		}
	}
	return problems
}

// versionWrong checks that the store's version does not go back, and that the status tells the share of the run.
func versionWrong(w *ownWorld) (problems []string) {
	if w.setup.replicas == 0 || !w.running {
		return nil
	}
	if st := w.status(); !st.Shard.Share.Equal(w.share) && w.mutant.offByOne == nil {
		problems = append(problems, fmt.Sprintf("the share is %v, and the status says %v", w.share, st.Shard.Share))
	}
	now := w.storeVersion()
	if now < w.version && !w.doubtful {
		problems = append(problems, fmt.Sprintf("the store's version was %d, and is %d", w.version, now))
	}
	w.version = now
	return problems
}

// storeVersion returns the version of the store, 0 if it has none.
func (w *ownWorld) storeVersion() int {
	version, err := strconv.Atoi(w.status().Version)
	if err != nil {
		return 0
	}
	return version
}

// partial reports whether the full state of another share has not been read: the store lacks objects of its version.
func (w *ownWorld) partial() bool {
	_, listed := w.wire.progress()
	return w.setup.replicas > 0 && listed[0] == w.lists
}

// raiseToVersion records that a store of a share shows all changes up to its version, once the share's full state
// was read.
func (w *ownWorld) raiseToVersion() {
	if w.setup.replicas == 0 || !w.running || w.partial() {
		return
	}
	upTo := w.storeVersion()
	for _, k := range w.server.history.keys() {
		for _, s := range w.server.history.of(k) {
			if s.version <= upTo && w.concerns(k, s) {
				w.raise(k, s.version, "the store's version")
			}
		}
	}
}

// status returns the informer's status.
func (w *ownWorld) status() informer.Status {
	st := w.informer.Status()
	if w.mutant.status != nil {
		w.mutant.status(&st)
	}
	return st
}

// partingWrong checks what a handler is told of an object that leaves the store of a share: it is released if it
// exists, and deleted if it does not, or is not selected any more.
func (w *ownWorld) partingWrong(e ownEvent) string {
	if w.setup.replicas == 0 || w.transform == renames || e.Kind != "deleted" && e.Kind != "released" {
		return ""
	}
	ended := slices.ContainsFunc(w.server.history.of(serverKey(keyOfAny(e.Old))), func(s ownState) bool {
		return s.version >= versionOf(e.Old) && (s.gone || !slices.ContainsFunc(w.places, func(p ownPlace) bool { return p.reads(s) }))
	})
	switch {
	case e.Kind == "deleted" && !ended:
		return "a delete of what exists"
	case e.Kind == "released" && w.holds(e.Old):
		return "a release of what is in the share"
	}
	return ""
}

// unshared returns, for a world at rest, the objects that are not in the store of exactly one informer.
func (w *ownWorld) unshared() (problems []string) {
	if w.setup.replicas == 0 {
		return nil
	}
	have := map[key][]string{}
	count := func(who string, o informertest.Object) {
		k := serverKey(keyOfAny(o))
		have[k] = append(have[k], fmt.Sprintf("%s has %s", who, o.GetResourceVersion()))
	}
	for _, o := range w.all() {
		count("the informer", o)
	}
	for i, p := range w.replicas {
		if w.mutant.losesReplica && i == 0 {
			continue
		}
		for o := range p.indexer.All() {
			count(replicaName(p.n), o.(informertest.Object))
		}
	}
	for _, k := range w.server.history.keys() {
		now := w.server.history.newest(k)
		want := slices.ContainsFunc(w.places, func(p ownPlace) bool { return p.reads(now) })
		switch found := have[k]; {
		case !want && len(found) > 0:
			problems = append(problems, fmt.Sprintf("%s is not on the server: %v", k, found))
		case want && len(found) != 1:
			problems = append(problems, fmt.Sprintf("%s is in the stores of %d informers: %v", k, len(found), found))
		case want && !strings.HasSuffix(found[0], " has "+now.object.GetResourceVersion()) && !w.doubtful:
			problems = append(problems, fmt.Sprintf("%s is %s on the server: %v", k, now.object.GetResourceVersion(), found))
		}
	}
	return problems
}
