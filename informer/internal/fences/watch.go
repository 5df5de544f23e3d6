package fences

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
)

// Event takes an event of the watch: id is that of its object, received what the store would hold after
// it, which is nothing for a deletion. shown is what the store holds now.
func (f *Fences) Event(server indexer.Key, id records.Identity, received, shown Cell, scoped bool) Verdict {
	was := f.find(server, shown)
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
func (f *Fences) Failed(server indexer.Key, version string) Verdict {
	was := f.keys[server]
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
// store holds now. A full state that is held back leaves the key as it is.
func (f *Fences) Listed(server indexer.Key, listed, shown Cell, version string) Verdict {
	was := f.find(server, shown)
	switch {
	case was == nil:
		return Apply
	case was.endsAt(version), was.kind == dead && listed.Object != nil && !was.keepsBack(listed.Identity):
		f.remove(was)
		return Apply
	case was.kind == ahead && listed.is(was.object): // it was listed as what the answer has replaced since
		return Hold
	}
	was.confirmed = listed
	return Hold
}
