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

// ShardStatus describes the share of an informer with [Options].Shard. It is zero without one, and until the
// informer runs. Shards are experimental: the server's selector is alpha, and this API may change with it.
type ShardStatus struct {
	// Share is the share that the informer reads.
	Share shard.Set
	// Foreign counts the objects and events outside of the share that the server sent and the informer
	// dropped.
	Foreign uint64
	// Server says whether the server leaves out objects outside of the share: "filters", "does not filter",
	// or "" if the server has not shown it yet.
	Server string
}

// askShare asks for the share that the informer reads. The reflector's goroutine calls it once, because the
// Assignment is the program's. The error says why the informer cannot read the share of the source.
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
	c.share.Store(&of)
	if of.Field() == shard.ByNamespace && source.Namespace != "" {
		return fmt.Errorf("%w: its source reads only namespace %s, and the share is by namespace", ErrSharded, source.Namespace)
	}
	return nil
}

// shardStatus returns the state of the share.
func (c *Core) shardStatus() ShardStatus {
	share := c.share.Load()
	if share == nil {
		return ShardStatus{}
	}
	s := ShardStatus{Share: *share}
	if r := c.reflectors[0].Load(); r != nil {
		s.Foreign, s.Server = r.Foreign()
	}
	return s
}

// outside reports whether the object of an answer is known to be outside of the share.
func (a *applier) outside(on *ownwrites.Answer) bool {
	share := a.share.Load()
	if share == nil {
		return false
	}
	known := on.UID != "" || share.Field() == shard.ByNamespace && on.Key.Namespace != ""
	return known && !share.Has(on.Key.Namespace, types.UID(on.UID))
}

// checkShare panics in verify mode if the store holds an object outside of the share that was not put by
// hand, or if there is a fence of an object outside.
func (a *applier) checkShare() {
	if !verify.On || a.share.Load() == nil {
		return
	}
	share, p := a.share.Load(), &a.states[0]
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

// checkChanges panics in verify mode if an object outside of the share is about to be stored.
func (a *applier) checkChanges(changes []deltafifo.Delta) {
	if !verify.On || a.share.Load() == nil {
		return
	}
	share := a.share.Load()
	for i := range changes {
		if d := &changes[i]; d.Op == deltafifo.Added || d.Op == deltafifo.Modified {
			verify.That(share.Has(d.Key.Namespace, types.UID(d.UID)), "%v, %s, is outside of the share", d.Key, d.UID)
		}
	}
}
