package informer

import (
	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// An object that moves from one source of an informer to another is told of by
// both, in any order. Of what they say of one key the higher version wins, and
// otherwise what was put last. A delete that is not newer speaks of its own source
// only: at one and the same version the object is deleted in one source, and added
// in the other.
//
// Nothing is known any more of what was deleted. So an older object that another
// source puts afterwards is stored, and stays until that source says that it is gone,
// as it will.

// outdated tells whether another source's object under the key of a change is to
// stay as it is.
func (c *core) outdated(tx *indexer.Tx, d *deltafifo.Delta) bool {
	owner, ok := tx.Part(d.Key)
	if !ok || owner == d.Part || owner == c.partByHand() {
		return false
	}
	stored, _ := tx.Get(d.Key)
	version := c.identity(d.Key, stored).version
	if d.Op == deltafifo.Deleted {
		return !object.Older(version, d.Version)
	}
	return object.Older(d.Version, version)
}

// outdatedIn is outdated for what a full state has put. It is of no use where that is
// of another history: its versions do not compare with those of before.
func (c *core) outdatedInReplace(p *part) func(key indexer.Key, owner uint16, stored, put any) bool {
	return func(key indexer.Key, owner uint16, stored, put any) bool {
		return owner != c.partByHand() && object.Older(c.identityIn(p, key, put).version, c.identity(key, stored).version)
	}
}

// byHand returns the part of what is put into the store by hand under a new key: that
// of the only source, whose lists say what there is, or else one that is no source's.
func (c *core) partByHand() uint16 {
	if len(c.parts) == 1 {
		return 0
	}
	return uint16(len(c.parts)) //nolint:gosec // at most maxSources
}
