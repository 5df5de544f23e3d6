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

// Fences holds the fences of one source, by the server's keys. The zero value has none.
//
// Invariant: a fence is in keys; it is in due if end returns a version, and in deaths if it is dead.
type Fences struct {
	keys   map[indexer.Key]*fence
	due    []*fence // by the versions with which they end, the lowest last
	deaths []death  // by their moments
	moment uint64   // the number of deletions at unknown versions
}

// death is a dead fence and the time of its answer.
type death struct {
	*fence
	answered time.Time
}

// Len returns the number of fences.
func (f *Fences) Len() int { return len(f.keys) }

// Has reports whether a server's key has a fence.
func (f *Fences) Has(server indexer.Key) bool {
	_, ok := f.keys[server]
	return ok
}

// All returns the server's keys that have fences, in order, and the UIDs of their objects. A fence may end meanwhile.
func (f *Fences) All() iter.Seq2[indexer.Key, string] {
	all := slices.SortedFunc(maps.Values(f.keys), func(a, b *fence) int {
		return cmp.Or(cmp.Compare(a.server.Namespace, b.server.Namespace), cmp.Compare(a.server.Name, b.server.Name))
	})
	return func(yield func(indexer.Key, string) bool) {
		for _, fence := range all {
			if !yield(fence.server, fence.object.UID) {
				return
			}
		}
	}
}

// Moment returns the number of deletions at unknown versions that were applied, for
// [github.com/tidemark-k8s/tidemark/internal/ownwrites.Before].
func (f *Fences) Moment() uint64 { return f.moment }

// Void ends all fences: the source has a new history, and what it lists wins.
func (f *Fences) Void() { *f = Fences{moment: f.moment} }

// Dated gives a date to the deletions at unknown versions that were answered at or before a moment: the
// server has made the version after them.
func (f *Fences) Dated(version string, moment uint64) {
	if !object.Comparable(version) {
		return
	}
	for _, d := range f.deaths {
		if d.moment > moment {
			return
		}
		if d.until == "" {
			d.until = version
			f.addDue(d.fence)
		}
	}
}

// Reached ends the fences that a version of the source has passed without an echo, in the order of their
// versions, and then the dead ones that are too old. It is called after each event, list and bookmark has
// been applied, and before each answer.
//
// It calls shown for what the store holds under the key of such a fence, and restore with what it has to
// hold from now on, which may be nothing. ghost says that an object was shown that no watch and no list
// has confirmed.
func (f *Fences) Reached(version string, now time.Time, shown func(server indexer.Key) Cell, restore func(server indexer.Key, confirmed Cell, ghost bool)) {
	for n := len(f.due); n > 0 && reaches(version, f.due[n-1].end()); n = len(f.due) {
		f.restore(f.due[n-1], shown, restore)
	}
	for len(f.deaths) > 0 && now.Sub(f.deaths[0].answered) >= maxAge {
		f.restore(f.deaths[0].fence, shown, restore)
	}
}

// restore ends a fence without an echo.
func (f *Fences) restore(ended *fence, shown func(indexer.Key) Cell, restore func(indexer.Key, Cell, bool)) {
	f.remove(ended)
	if now := shown(ended.server); ended.holds(now) && (now.Object != nil || ended.confirmed.Object != nil || ended.kind == ahead) {
		restore(ended.server, ended.confirmed, ended.kind == ahead)
	}
}

// find returns the fence of a key, nil if it has none. A fence over what a user has written by hand ends.
func (f *Fences) find(server indexer.Key, shown Cell) *fence {
	found := f.keys[server]
	if found != nil && !found.holds(shown) {
		f.remove(found)
		return nil
	}
	return found
}

// raise sets the fence of a key in place of the one it has. The first fence of a key keeps what the store
// holds. It returns false if there are too many fences.
func (f *Fences) raise(next *fence, shown Cell, now time.Time) bool {
	was := f.keys[next.server]
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
	f.keys[next.server] = next
	if next.kind != dead {
		f.addDue(next)
		return true
	}
	f.moment++
	next.moment = f.moment
	f.deaths = append(f.deaths, death{next, now})
	return true
}

// remove ends a fence.
func (f *Fences) remove(ended *fence) {
	delete(f.keys, ended.server)
	if ended.end() != "" {
		i := f.place(ended)
		i += slices.Index(f.due[i:], ended)
		f.due = slices.Delete(f.due, i, i+1)
	}
	if ended.kind == dead {
		i, _ := slices.BinarySearchFunc(f.deaths, ended.moment, func(d death, moment uint64) int { return cmp.Compare(d.moment, moment) })
		f.deaths = slices.Delete(f.deaths, i, i+1)
	}
}

// addDue adds a fence that ends with a version. Of several that end with the same one, the first added
// ends first.
func (f *Fences) addDue(ending *fence) {
	f.due = slices.Insert(f.due, f.place(ending), ending)
}

// place returns the place in due of the last fence added for a version.
func (f *Fences) place(ending *fence) int {
	i, _ := slices.BinarySearchFunc(f.due, ending.end(), func(e *fence, version string) int { return order(version, e.end()) })
	return i
}
