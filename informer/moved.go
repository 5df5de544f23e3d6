package informer

import (
	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// If an object moves from one source of an informer to another, both sources report it, in any
// order. The higher version of a key wins; if the versions do not compare, the last put wins. A
// delete that is not newer concerns only its own source: at the same version, the object is deleted
// in one source and added in the other.
//
// The store keeps no versions of deleted objects. So if another source puts an older object after
// the delete, the object is stored, and stays until that source reports its delete, as it will.

// outdated reports whether a change is outdated: another source's object of the key stays.
func (a *applier) outdated(tx *indexer.Tx, d *deltafifo.Delta) bool {
	if len(a.states) == 1 {
		return false
	}
	owner, ok := tx.Source(d.Key)
	if !ok || owner == d.Source || owner == a.sourceByHand() {
		return false
	}
	stored, _ := tx.Get(d.Key)
	version := a.states[owner].identity(d.Key, stored).Version
	if d.Op == deltafifo.Deleted {
		return !object.Older(version, d.Version)
	}
	return object.Older(d.Version, version)
}

// outdatedInReplace is outdated for the objects of a replacement. It must not be used for a
// replacement with a new history: its versions do not compare with the stored ones. An object that has
// failed was not listed but kept, perhaps as a user has written it, and the other source has put its own
// since.
func (a *applier) outdatedInReplace(p *sourceState) func(key indexer.Key, owner uint16, stored, put any) bool {
	return func(key indexer.Key, owner uint16, stored, put any) bool {
		if owner == a.sourceByHand() {
			return false
		}
		theirs, ours := a.states[owner].identity(key, stored).Version, a.identityIn(p, key, put).Version
		if p.next.Failed(key) {
			return !object.Older(theirs, ours)
		}
		return object.Older(ours, theirs)
	}
}

// sourceByHand returns the number under which objects are stored that a user puts into the store by hand
// under a new key. With a single source it is the source's own, and the source's lists replace the objects.
// With several, no source has it.
func (a *applier) sourceByHand() uint16 {
	if len(a.states) == 1 {
		return 0
	}
	return uint16(len(a.states)) //nolint:gosec // at most maxSources
}
