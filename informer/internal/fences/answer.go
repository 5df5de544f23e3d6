package fences

import (
	"time"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// Answered takes the answer to a write of this program. shown is what the store holds, reached the version
// up to which the source's changes are in it. scoped says that the source has a selector, so that an object
// may go and come back.
//
// The caller does not ask before the source's first full state, nor about a doubt, nor about an answer to a request
// begun in an earlier history.
func (f *Fences) Answered(a ownwrites.Answer, shown Cell, reached string, scoped bool, now time.Time) (Verdict, Result) {
	was := f.find(a.Key, shown)
	switch {
	case a.Kind == ownwrites.Object, a.Kind == ownwrites.Deleted:
		return f.dated(a, was, shown, reached)
	case a.UID == "":
		return Hold, Doubtful
	case isOver(a, was, shown, scoped):
		return Hold, Known
	case a.Kind == ownwrites.Undated, isEmptied(a, shown):
		return f.undated(a, was, shown, now)
	}
	return Hold, Doubtful
}

// isOver reports whether the object of an answer has certainly been deleted, and the store knows: whatever
// the write has done came before. A UID that the watch has ended does not come back, unless the source has a
// selector.
func isOver(a ownwrites.Answer, was *fence, shown Cell, scoped bool) bool {
	if was != nil {
		return was.kind == dead && was.object.UID == a.UID
	}
	return !scoped && shown.Object == nil && a.Before.UID == a.UID
}

// isEmptied reports whether an update has certainly deleted its object, by removing the last finalizer. The
// store holds an object of the same version that has finalizers. A server never makes two objects of one
// version, so the object in the answer is not stored there.
func isEmptied(a ownwrites.Answer, shown Cell) bool {
	return shown.is(a.Identity) && shown.Finalizers
}

// dated takes an answer that says what has become of the object at the answer's version.
func (f *Fences) dated(a ownwrites.Answer, was *fence, shown Cell, reached string) (Verdict, Result) {
	next := &fence{object: a.Identity, kind: absent}
	verdict, result := Remove, Shown
	switch {
	case !object.Comparable(a.Version) || !object.Comparable(reached):
		return Hold, Doubtful
	case reaches(reached, a.Version), was != nil && (was.keepsBack(a.Identity) || was.kind != dead && was.object.Version == a.Version):
		return Hold, Known
	case a.Scope == ownwrites.Outside:
		result = Outside
	case a.Kind == ownwrites.Deleted:
	case a.Scope == ownwrites.Inside && a.Object != nil:
		next.kind, verdict = ahead, Show
	default:
		return Hold, Waiting
	}
	if !f.raise(next, shown) {
		return Hold, Waiting
	}
	return verdict, result
}

// undated takes the deletion of an object at an unknown version.
func (f *Fences) undated(a ownwrites.Answer, was *fence, shown Cell, now time.Time) (Verdict, Result) {
	held, fenced := shown.Object != nil && shown.Identity.UID == a.UID, was != nil && was.object.UID == a.UID
	newest := newestOf(a, shown, was) // version of the object that this program knows
	switch {
	case !object.Comparable(newest):
		return Hold, Doubtful // the store has never held the object
	case held, fenced:
	case object.Older(newest, shown.Identity.Version), was != nil && object.Older(newest, was.object.Version):
		return Hold, Known // another object was there later
	}
	next := &fence{kind: dead, object: a.Identity, answered: now}
	next.object.Version = newest
	if !f.raise(next, shown) {
		return Hold, Doubtful
	}
	return Remove, Shown
}

// newestOf returns the newest version that is known of the object of an answer, "" if none is.
func newestOf(a ownwrites.Answer, shown Cell, was *fence) (version string) {
	if a.Before.UID == a.UID {
		version = a.Before.Version
	}
	if shown.Object != nil && shown.Identity.UID == a.UID {
		version = object.Advance(version, shown.Identity.Version)
	}
	if was != nil && was.object.UID == a.UID {
		version = object.Advance(version, was.object.Version)
	}
	return version
}
