package informer

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// ShardStatus describes the share of the objects that an informer with [Options].Shard reads. It is zero
// without, and before the first run.
type ShardStatus struct {
	// Share is the share of the current or last run.
	Share shard.Set
	// Foreign counts the objects and events outside of the share that the server has sent, and the informer
	// has dropped.
	Foreign uint64
	// Server says whether the server leaves out what is outside of the share. Nothing depends on it but
	// what arrives.
	Server ServerFilter
}

// ServerFilter says whether the server leaves out what is outside of a share.
type ServerFilter = reflector.ServerFilter

// What is known of the server.
const (
	FilterUnknown = reflector.FilterUnknown
	// Filtered says that the last full state held nothing outside of the share.
	Filtered = reflector.Filtered
	// NotFiltered says that the server has sent something outside of the share.
	NotFiltered = reflector.NotFiltered
)

// ShareChanged reports that a run has begun with another share than the run before: Released objects have
// left the store.
type ShareChanged struct {
	Share    shard.Set
	Released int
}

// askShare asks for the share of a run that is about to begin, nil for everything. The error says why the run cannot
// read it.
func (c *core) askShare() (share *reflector.Share, unusable error) {
	if c.options.Shard == nil {
		return nil, nil
	}
	of := c.options.Shard.Share()
	if of.Field() == 0 {
		return nil, shard.ErrField
	}
	if err := whyUnusable(c.options.Shard, of.Field()); err != nil {
		return nil, err
	}
	return reflector.NewShare(of), nil
}

// unreadable returns an error if the source cannot be read in the share of a run. It may make a user's source.
func (c *core) unreadable(run *run) error {
	if run.share == nil || run.share.Set().Field() != shard.ByNamespace {
		return nil
	}
	of, err := c.namespacesOf(run.Context)
	if err == nil && of[0] != "" {
		return fmt.Errorf("%w: its source reads namespace %s alone, and the share is of namespaces", ErrSharded, of[0])
	}
	return nil
}

// shardStatus returns the state of the share. The caller holds mu.
func (c *core) shardStatus() (s ShardStatus) {
	s.Foreign = c.foreignBefore
	if share := c.run.share; share != nil {
		s = ShardStatus{share.Set(), c.foreignBefore + share.Foreign(), share.Filter()}
	}
	return s
}

// reshards reports whether objects outside of the share of a run may be stored.
func (a *applier) reshards(run *run) bool {
	return run.share != nil && !a.storedWithin.Equal(run.share.Set())
}

// reshard takes the objects outside of the share of a run out of the store. They still exist, and so are
// released. Their fences end before: the store would show again what they have confirmed.
func (a *applier) reshard(run *run) {
	share, p := run.share.Set(), &a.states[0]
	foreign := func(server indexer.Key, uid string) bool { return !share.Has(server.Namespace, types.UID(uid)) }
	var stored indexer.Snapshot[any]
	a.writer.Freeze(func(tx *indexer.Tx) {
		p.fences.Release(foreign)
		a.publishFences(0)
		stored = tx.Snapshot()
	})
	servers := slices.Collect(p.objects.All()) // an object without metadata is found here
	for obj := range stored.All() {
		if key, ok := keyOf(obj); ok && foreign(p.objects.Server(key), p.identity(key, obj).UID) {
			servers = append(servers, p.objects.Server(key))
		}
	}
	released := 0
	for some := range slices.Chunk(servers, maxSection) {
		if run.Context.Err() != nil {
			return
		}
		released += a.releaseInSection(p, some, foreign)
	}
	a.storedWithin = share
	a.checkShare()
	if released > 0 {
		a.report(ShareChanged{share, released})
	}
}

// releaseInSection releases the objects of some server's keys that are foreign, in one write section.
func (a *applier) releaseInSection(p *sourceState, servers []indexer.Key, foreign func(indexer.Key, string) bool) (released int) {
	tx := a.writer.Begin()
	defer tx.Commit()
	defer a.publishChanges(tx)
	for _, server := range servers {
		key := p.objects.Key(server)
		stored, ok := tx.Get(key)
		if id := p.identity(key, stored); ok && foreign(server, id.UID) {
			last, _ := a.takeOut(tx, key)
			a.forget(p, server)
			a.logReleased(key, last, id)
			released++
		}
	}
	return released
}

// outside reports whether the object of an answer is certainly outside of the share of the run.
func (a *applier) outside(on *ownwrites.Answer) bool {
	share := a.lastRun().share
	if share == nil {
		return false
	}
	known := on.UID != "" || share.Set().Field() == shard.ByNamespace && on.Key.Namespace != ""
	return known && !share.Set().Has(on.Key.Namespace, types.UID(on.UID))
}

// checkShare panics under TIDEMARK_VERIFY if the store holds an object outside of the share of the run, but for
// those that a user has put there by hand, or if there is a fence of one.
func (a *applier) checkShare() {
	if !verify.On || a.lastRun().share == nil {
		return
	}
	share, p := a.lastRun().share.Set(), &a.states[0]
	inside := func(what string, server indexer.Key, uid string) {
		verify.That(share.Has(server.Namespace, types.UID(uid)), "%s of %v, %s, is outside of share %v", what, server, uid, share)
	}
	a.writer.Freeze(func(tx *indexer.Tx) {
		for obj := range tx.Snapshot().All() {
			key, _ := keyOf(obj)
			if _, stamp, stored := tx.Stamped(key); stored && stamp != records.StampByHand {
				inside("the object", p.objects.Server(key), p.identity(key, obj).UID)
			}
		}
		p.fences.Release(func(server indexer.Key, uid string) bool {
			inside("a fence", server, uid)
			return false
		})
	})
}

// checkChanges panics under TIDEMARK_VERIFY if an object outside of the share of the run is about to be stored.
func (a *applier) checkChanges(changes []deltafifo.Delta) {
	if !verify.On || a.lastRun().share == nil {
		return
	}
	share := a.lastRun().share.Set()
	for i := range changes {
		if d := &changes[i]; d.Op == deltafifo.Added || d.Op == deltafifo.Modified {
			verify.That(share.Has(d.Key.Namespace, types.UID(d.UID)), "%v, %s, is outside of the share", d.Key, d.UID)
		}
	}
}
