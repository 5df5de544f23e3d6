package fences

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

const (
	// maxFences is the highest number of fences. Answers beyond it are not shown.
	maxFences = 4096
	// maxAge is the age at which a dead fence ends. The others end with a version, at any age.
	maxAge = 10 * time.Minute
)

// Fences holds the fences of one source, by the keys of their objects. The zero value has none.
// Len and All also accept nil.
//
// Invariant: a fence is in keys, and in deaths if it is dead, else in due.
type Fences struct {
	keys   map[indexer.Key]*fence
	due    []*fence // by the versions with which they end, the lowest last
	deaths []*fence // by the times of their answers
}

// Len returns the number of fences.
func (f *Fences) Len() int {
	if f == nil {
		return 0
	}
	return len(f.keys)
}

// Has reports whether a key has a fence.
func (f *Fences) Has(key indexer.Key) bool {
	_, ok := f.keys[key]
	return ok
}

// All returns the objects that have fences, in the order of their keys. A fence may end meanwhile.
func (f *Fences) All() iter.Seq[object.Identity] {
	if f == nil {
		f = new(Fences)
	}
	all := slices.SortedFunc(maps.Values(f.keys), func(a, b *fence) int {
		one, other := a.object.Key, b.object.Key
		return cmp.Or(cmp.Compare(one.Namespace, other.Namespace), cmp.Compare(one.Name, other.Name))
	})
	return func(yield func(object.Identity) bool) {
		for _, fence := range all {
			if !yield(fence.object) {
				return
			}
		}
	}
}

// Reached ends the fences that a version of the source has passed without an echo, in the order of their
// versions, and then the dead ones that are too old. It is called after events and bookmarks
// have been applied, and before each answer outside of a replacement.
//
// For each fence that ends, it calls shown to read what the store holds under the key, and restore with what
// the store must hold from now on, which may be nothing. ghost says that the store has shown an object that
// no watch and no list has confirmed.
func (f *Fences) Reached(version string, now time.Time, shown func(key indexer.Key) Cell, restore func(key indexer.Key, confirmed Cell, ghost bool)) {
	for n := len(f.due); n > 0 && reaches(version, f.due[n-1].object.Version); n = len(f.due) {
		f.restore(f.due[n-1], shown, restore)
	}
	for len(f.deaths) > 0 && now.Sub(f.deaths[0].answered) >= maxAge {
		f.restore(f.deaths[0], shown, restore)
	}
}

// restore ends a fence without an echo.
func (f *Fences) restore(ended *fence, shown func(indexer.Key) Cell, restore func(indexer.Key, Cell, bool)) {
	f.remove(ended)
	if now := shown(ended.object.Key); ended.holds(now) && (now.Object != nil || ended.confirmed.Object != nil || ended.kind == ahead) {
		restore(ended.object.Key, ended.confirmed, ended.kind == ahead)
	}
}

// find returns the fence of a key, nil if it has none. A fence over what a user has written by hand ends.
func (f *Fences) find(key indexer.Key, shown Cell) *fence {
	found := f.keys[key]
	if found != nil && !found.holds(shown) {
		f.remove(found)
		return nil
	}
	return found
}

// raise sets the fence of a key in place of the one it has. The first fence of a key keeps what the store
// holds. It returns false if there are too many fences.
func (f *Fences) raise(next *fence, shown Cell) bool {
	key := next.object.Key
	was := f.keys[key]
	switch {
	case was != nil:
		next.confirmed = was.confirmed
		f.remove(was)
	case len(f.keys) >= maxFences:
		return false
	default:
		next.confirmed = shown
	}
	if f.keys == nil {
		f.keys = make(map[indexer.Key]*fence)
	}
	f.keys[key] = next
	if next.kind == dead {
		f.deaths = append(f.deaths, next)
	} else { // of several that end with one version, the first added ends first
		f.due = slices.Insert(f.due, f.place(next), next)
	}
	return true
}

// remove ends a fence.
func (f *Fences) remove(ended *fence) {
	delete(f.keys, ended.object.Key)
	if ended.kind == dead {
		i := slices.Index(f.deaths, ended)
		f.deaths = slices.Delete(f.deaths, i, i+1)
		return
	}
	i := f.place(ended)
	i += slices.Index(f.due[i:], ended)
	f.due = slices.Delete(f.due, i, i+1)
}

// place returns the place in due of the last fence added for the version of a fence.
func (f *Fences) place(of *fence) int {
	i, _ := slices.BinarySearchFunc(f.due, of.object.Version, func(e *fence, version string) int { return order(version, e.object.Version) })
	return i
}
