package informer

import (
	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// When an object moves from one source of an informer to another, both sources report it, in any
// order. Of two reports on one key the higher version wins, and otherwise the later one. A delete
// that is not newer concerns its own source only: at the same version the object is deleted in one
// source, and added in the other.
//
// The informer keeps nothing about deleted objects. So if another source then puts an older object,
// it is stored, and stays until that source reports its delete, as it will.

// outdated reports whether another source's object under the key of a change is to stay.
func (c *core) outdated(tx *indexer.Tx, d *deltafifo.Delta) bool {
	owner, ok := tx.Part(d.Key)
	if !ok || owner == d.Part || owner == c.byHand() {
		return false
	}
	stored, _ := tx.Get(d.Key)
	version := c.identity(d.Key, stored).version
	if d.Op == deltafifo.Deleted {
		return !object.Older(version, d.Version)
	}
	return object.Older(d.Version, version)
}

// outdatedIn is outdated for the objects of a full state. It cannot be used if the full state
// belongs to another history, whose versions do not compare with the stored ones.
func (c *core) outdatedIn(p *part) func(key indexer.Key, owner uint16, stored, put any) bool {
	return func(key indexer.Key, owner uint16, stored, put any) bool {
		return owner != c.byHand() && object.Older(c.identityIn(p, key, put).version, c.identity(key, stored).version)
	}
}

// byHand returns the part of objects that a user writes under a new key: that of the only source,
// whose lists then decide about them, or else a number of no source.
func (c *core) byHand() uint16 {
	if len(c.parts) == 1 {
		return 0
	}
	return uint16(len(c.parts)) //nolint:gosec // at most maxSources
}
