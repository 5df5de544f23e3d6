package engine

import (
	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// If an object moves from one source of an informer to another, both sources report the move, in any order.
// The higher version of a key wins. If the versions do not compare, the last put wins. A delete that is not
// newer affects only its own source, because a moving object is deleted in one source and added in the other
// at the same version.
//
// The store keeps no versions of deleted objects. So an older object that another source puts after the
// delete is stored, and stays until that source reports its delete, which it will. The store does not know
// the version of an object that was put by hand either: any change wins over it.

// outdated reports whether a change is outdated, so that another source's object of the key stays.
func (a *applier) outdated(tx *indexer.Tx, d *deltafifo.Delta) bool {
	if len(a.states) == 1 {
		return false
	}
	stored, ok := tx.Get(d.Key)
	if !ok || stored.Source == d.Source || stored.Stamp == object.StampByHand {
		return false
	}
	version := a.states[stored.Source].identity(d.Key, stored.Object).Version
	if d.Op == deltafifo.Deleted {
		return !object.Older(version, d.Version)
	}
	return object.Older(d.Version, version)
}

// outdatedInReplace is outdated for the objects of a replacement. It must not be used for a replacement with
// a new history, whose versions do not compare with the stored ones.
func (a *applier) outdatedInReplace(p *sourceState) func(key indexer.Key, stored indexer.Stored, put any) bool {
	return func(key indexer.Key, stored indexer.Stored, put any) bool {
		theirs := a.states[stored.Source].identity(key, stored.Object).Version
		return stored.Stamp != object.StampByHand && object.Older(a.identityIn(p, key, put).Version, theirs)
	}
}
