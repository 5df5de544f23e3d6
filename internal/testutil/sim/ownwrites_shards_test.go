package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// In some worlds of own writes the informer reads a share. Up to three other informers read the rest of
// the ring. They have no handlers, nothing holds their requests, and the program does not write through
// them.

// The operations that only worlds with shares have.
const (
	switchGate operation = "gate"   // the server begins or stops filtering by shard
	refuse     operation = "refuse" // the server begins or stops refusing requests with a shardSelector
	recreate   operation = "renew"  // an object is deleted and recreated
)

// shardMenu has the operations that replace some steps in worlds with shares.
var shardMenu = []operation{switchGate, refuse, recreate}

// drawShares draws how many informers share the ring (0 if there are no shares), and by which field. It
// replaces some steps, and does not affect the rest of the world. An informer with several sources
// cannot have a share.
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

// ring has the shares of a world's informers. It is safe for concurrent use.
type ring struct {
	off    func(shard.Set) shard.Set // the mutant's change of the informer's share
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

// divideRing divides the ring. Half of the cuts are at the hash of an object or right after it. Some
// shares have several ranges, and some are empty.
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

// holds reports whether an object is in the informer's share.
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
	stop     func() // stops the run, and waits until it ends
}

// runReplicas makes and starts the other informers.
func (w *ownWorld) runReplicas() {
	for n := 1; n < w.setup.replicas; n++ {
		p := w.newReplica(n)
		p.run()
		w.replicas = append(w.replicas, p)
	}
}

func (w *ownWorld) newReplica(n int) *replica {
	c := w.config(reflector.Wire)
	c.Transport, c.UserAgent = w.wire.next, replicaName(n)
	o := w.options()
	o.Name, o.Shard, o.Storage, o.Rand = c.UserAgent, seat{w.ring, n}, w.setup.packed.storage(false), nil
	p := &replica{n: n}
	p.informer = informer.JoinShared(w.sourcesOf(c), w.kind.object, o)
	p.indexer, _ = informer.IndexerOf(p.informer, w.kind.object)
	return p
}

// replicaPrefix is the prefix of the names of informers with a share in their requests.
const replicaPrefix = "replica "

func replicaName(n int) string { return replicaPrefix + strconv.Itoa(n) }

func (p *replica) run() {
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := p.informer.Start(ctx)
	must(err)
	p.stop = func() {
		cancel()
		must(wait())
	}
}

// dropReplicas stops the other informers.
func (w *ownWorld) dropReplicas() {
	for _, p := range w.replicas {
		p.stop()
	}
	w.replicas = nil
}

// doShard plays a step of a world with shares.
func (w *ownWorld) doShard(s step) {
	r := s.rand()
	switch s.op {
	case switchGate:
		w.wire.next.change(func(g *gateway) { g.off = !g.off })
		if r.IntN(2) == 0 {
			w.wire.breakAll() // the server restarts with another gate
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

// recreate makes another program delete an object and recreate it with another UID. It may then be in
// another share.
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
	for k, o := range w.stored() {
		if !w.holds(o) && !w.touched[k] {
			problems = append(problems, fmt.Sprintf("the store of %v has %s", w.share, spellOwn(o)))
		}
	}
	for _, p := range w.replicas {
		for o := range p.indexer.All() {
			if own := o.(kit.APIObject); !w.ring.of(p.n).Has(own.GetNamespace(), own.GetUID()) {
				problems = append(problems, fmt.Sprintf("the store of replica %d, %v, has %s", p.n, w.ring.of(p.n), spellOwn(own)))
			}
		}
	}
	return problems
}

// versionWrong checks that the store's version does not go back, and that the status shows the share.
func versionWrong(w *ownWorld) (problems []string) {
	if w.setup.replicas == 0 {
		return nil
	}
	if st := w.status(); !st.Shard.Share.Equal(w.share) && w.mutant.offByOne == nil {
		problems = append(problems, fmt.Sprintf("the share is %v, but the status says %v", w.share, st.Shard.Share))
	}
	now := w.storeVersion()
	if now < w.version && !w.doubtful {
		problems = append(problems, fmt.Sprintf("the store's version went back from %d to %d", w.version, now))
	}
	w.version = now
	return problems
}

// storeVersion returns the version of the store, or 0 if it has none.
func (w *ownWorld) storeVersion() int {
	version, err := strconv.Atoi(w.status().Version)
	if err != nil {
		return 0
	}
	return version
}

// partial reports whether the full state of the share has not been read yet.
func (w *ownWorld) partial() bool {
	_, listed := w.wire.progress()
	return w.setup.replicas > 0 && listed[0] == 0
}

// raiseToVersion records that the store of a share shows all changes up to its version, after the
// share's full state was read.
func (w *ownWorld) raiseToVersion() {
	if w.setup.replicas == 0 || w.partial() {
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

// partingWrong checks that a deleted object no longer exists or is no longer selected.
func (w *ownWorld) partingWrong(e ownEvent) string {
	if w.setup.replicas == 0 || e.Kind != "deleted" {
		return ""
	}
	ended := slices.ContainsFunc(w.server.history.of(keyOfAny(e.Old)), func(s ownState) bool {
		return s.version >= versionOf(e.Old) && (s.gone || !slices.ContainsFunc(w.places, func(p ownPlace) bool { return p.reads(s) }))
	})
	if !ended {
		return "a delete of what exists"
	}
	return ""
}

// unshared returns the objects that are not in the store of exactly one informer. The world must be
// idle.
func (w *ownWorld) unshared() (problems []string) {
	if w.setup.replicas == 0 {
		return nil
	}
	have := map[key][]string{}
	count := func(who string, o kit.APIObject) {
		k := keyOfAny(o)
		have[k] = append(have[k], fmt.Sprintf("%s has %s", who, o.GetResourceVersion()))
	}
	for _, o := range w.stored() {
		count("the informer", o)
	}
	for i, p := range w.replicas {
		if w.mutant.losesReplica && i == 0 {
			continue
		}
		for o := range p.indexer.All() {
			count(replicaName(p.n), o.(kit.APIObject))
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
