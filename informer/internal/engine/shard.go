package engine

import (
	"fmt"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// ShardStatus describes the share of the objects that an informer with [Options].Shard reads. It is zero
// without, and until the informer runs.
type ShardStatus struct {
	// Share is the share that the informer reads.
	Share shard.Set
	// Foreign counts the objects and events outside of the share that the server has sent, and the informer
	// has dropped.
	Foreign uint64
	// Server says whether the server leaves out what is outside of the share: it "filters" or "does not filter"; ""
	// if the server has not shown it yet.
	Server string
}

// askShare asks for the share that the informer reads. The Assignment is the user's, so the reflector's goroutine asks,
// once. The error says why the informer cannot read the share of the source.
func (c *Core) askShare(source reflector.Source) (err error) {
	if c.options.Shard == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("asking for the share: %w: %v\n%s", reflector.ErrPanic, p, debug.Stack())
		}
	}()
	of := c.options.Shard.Share()
	if of.Field() == 0 {
		return shard.ErrField
	}
	c.share.Store(reflector.NewShare(of))
	if of.Field() == shard.ByNamespace && source.Namespace != "" {
		return fmt.Errorf("%w: its source reads namespace %s alone, and the share is of namespaces", ErrSharded, source.Namespace)
	}
	return nil
}

// shardStatus returns the state of the share.
func (c *Core) shardStatus() ShardStatus {
	share := c.share.Load()
	if share == nil {
		return ShardStatus{}
	}
	return ShardStatus{share.Set(), share.Foreign(), share.Server()}
}

// outside reports whether the object of an answer is certainly outside of the share.
func (a *applier) outside(on *ownwrites.Answer) bool {
	share := a.share.Load()
	if share == nil {
		return false
	}
	known := on.UID != "" || share.Set().Field() == shard.ByNamespace && on.Key.Namespace != ""
	return known && !share.Set().Has(on.Key.Namespace, types.UID(on.UID))
}

// checkShare panics under TIDEMARK_VERIFY if the store holds an object outside of the share, but for
// those that a user has put there by hand, or if there is a fence of one.
func (a *applier) checkShare() {
	if !verify.On || a.share.Load() == nil {
		return
	}
	share, p := a.share.Load().Set(), &a.states[0]
	inside := func(what string, id object.Identity) {
		verify.That(share.Has(id.Key.Namespace, types.UID(id.UID)), "%s of %v, %s, is outside of share %v", what, id.Key, id.UID, share)
	}
	a.writer.Freeze(func(tx *indexer.Tx) {
		for obj := range tx.Snapshot().All() {
			key, _ := object.KeyOf(obj)
			if stored, ok := tx.Get(key); ok && stored.Stamp != object.StampByHand {
				inside("the object", p.identity(key, obj))
			}
		}
		for fenced := range p.fences.All() {
			inside("a fence", fenced)
		}
	})
}

// checkChanges panics under TIDEMARK_VERIFY if an object outside of the share is about to be stored.
func (a *applier) checkChanges(changes []deltafifo.Delta) {
	if !verify.On || a.share.Load() == nil {
		return
	}
	share := a.share.Load().Set()
	for i := range changes {
		if d := &changes[i]; d.Op == deltafifo.Added || d.Op == deltafifo.Modified {
			verify.That(share.Has(d.Key.Namespace, types.UID(d.UID)), "%v, %s, is outside of the share", d.Key, d.UID)
		}
	}
}
