package informertest

import (
	"iter"
	"slices"
	"strings"
)

// collection holds the objects of one resource, now and at every version since the last compaction. The key
// of an object is its path: "namespace/name", or "name". Objects are sorted by path, as in kube-apiserver, so
// namespace "a-b" comes before "a".
type collection struct {
	kind kind
	// since is the version at which the resource was registered. Watches from earlier versions have expired.
	since uint64
	// items holds the states of each object by path. Invariant: each list is non-empty and its
	// versions ascend.
	items map[string][]state
	// paths are the keys of items. sorted reports whether they are in order. The next list sorts them,
	// instead of each insertion, because objects often come by the thousand.
	paths  []string
	sorted bool
	// oldest precedes the first kept change. newest is the last change. Invariant: following next from oldest
	// leads to newest, which has no next.
	oldest, newest *change
	// dropped is set when the resource is no longer served. No change follows.
	dropped bool
}

// state is an object's content from a version on. The object is nil after a deletion.
type state struct {
	version uint64
	object  apiObject
}

// change is one entry of a collection's history: a write or a bookmark. A creation has no old object, and a
// deletion has no new one. A bookmark has no objects, and a number that starts at 1. A change is immutable
// once it has a next.
type change struct {
	version  uint64
	path     string
	old, new apiObject
	bookmark uint64
	next     *change
}

func newCollection(k kind, since uint64) *collection {
	start := &change{}
	return &collection{kind: k, since: since, items: map[string][]state{}, oldest: start, newest: start}
}

// pathOf returns an object's key in its collection.
func pathOf(namespace, name string) string { return prefix(namespace) + name }

// prefix returns the common prefix of all paths in a namespace. The namespace "" means all namespaces.
func prefix(namespace string) string {
	if namespace == "" {
		return ""
	}
	return namespace + "/"
}

// current returns the object at a path, or nil.
func (c *collection) current(path string) apiObject {
	if states := c.items[path]; len(states) > 0 {
		return states[len(states)-1].object
	}
	return nil
}

// at returns the object at a path and a version, or nil.
func (c *collection) at(path string, version uint64) apiObject {
	for _, s := range slices.Backward(c.items[path]) {
		if s.version <= version {
			return s.object
		}
	}
	return nil
}

// scan yields the objects with a path prefix as they were at a version, sorted by path, beginning at the path
// from.
func (c *collection) scan(prefix, from string, version uint64) iter.Seq2[string, apiObject] {
	return func(yield func(string, apiObject) bool) {
		if !c.sorted {
			slices.Sort(c.paths)
			c.sorted = true
		}
		first, _ := slices.BinarySearch(c.paths, max(prefix, from))
		for _, path := range c.paths[first:] {
			if !strings.HasPrefix(path, prefix) {
				return
			}
			if obj := c.at(path, version); obj != nil && !yield(path, obj) {
				return
			}
		}
	}
}

// apply records a change as the newest state of its object.
func (c *collection) apply(ch *change) {
	states, known := c.items[ch.path]
	if !known {
		c.paths, c.sorted = append(c.paths, ch.path), false
	}
	c.items[ch.path] = append(states, state{ch.version, ch.new})
	c.append(ch)
}

func (c *collection) append(ch *change) {
	c.newest.next = ch
	c.newest = ch
}

// compact forgets all states except the current ones. A watch keeps its unread changes, because it has a
// pointer into the history.
func (c *collection) compact() {
	c.oldest = c.newest
	for path, states := range c.items {
		if last := states[len(states)-1]; last.object == nil {
			delete(c.items, path)
		} else {
			c.items[path] = []state{last}
		}
	}
	c.paths = slices.DeleteFunc(c.paths, func(path string) bool { return c.items[path] == nil })
}
