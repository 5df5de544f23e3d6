package fences

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Event takes an event of the watch: id is that of its object, received what the store would hold after
// it, which is nothing for a deletion. shown is what the store holds now.
func (f *Fences) Event(id object.Identity, received, shown Cell, scoped bool) Verdict {
	was := f.find(id.Key, shown)
	if was == nil {
		return Apply
	}
	same, deleted := was.object.SameObject(id), received.Object == nil
	switch {
	case was.kind == dead && same && deleted && !scoped: // with a selector it may only have left, and come back
		f.remove(was)
		return Echo
	case was.keepsBack(id):
		was.confirmed = received
		return Hold
	}
	f.remove(was)
	if id.Version == was.object.Version && same && (deleted && shown.Object == nil || !deleted && shown.is(id)) {
		return Echo
	}
	return Apply
}

// Failed takes an object that could not be prepared: the version is that of its event or, in a list, the
// list's. The object is quarantined, whatever the verdict, and what is stored stays.
func (f *Fences) Failed(key indexer.Key, version string) Verdict {
	was := f.keys[key]
	switch {
	case was == nil:
		return Apply
	case !was.endsAt(version):
		return Hold
	}
	f.remove(was)
	return Apply
}

// Listed takes what a full state at a version has under a key, which may be nothing. shown is what the
// store holds now. Unless the verdict is [Apply], the full state leaves the key as it is.
func (f *Fences) Listed(key indexer.Key, listed, shown Cell, version string, scoped bool) Verdict {
	was := f.find(key, shown)
	switch {
	case was == nil:
		return Apply
	case was.endsAt(version), was.kind == dead && was.endsWith(listed, version, scoped):
		f.remove(was)
		if listed.is(shown.Identity) { // it was listed before the answer came
			return Echo
		}
		return Apply
	}
	was.confirmed = listed
	return Hold
}

// endsWith reports whether a full state proves that the object of a dead fence does not come back: the full state has
// another object, or it lacks this one and is not older than the object's newest known version. With a selector, the
// object may only have left the selection.
func (f *fence) endsWith(listed Cell, version string, scoped bool) bool {
	if listed.Object != nil {
		return !f.keepsBack(listed.Identity)
	}
	return !scoped && !object.Older(version, f.object.Version)
}
