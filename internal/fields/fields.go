package fields

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrRefused means that a field cannot be left out, or that a path is empty.
var ErrRefused = errors.New("this field cannot be dropped")

// needed are the paths that the library relies on, or the deletion of objects.
var needed = []string{
	"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion",
	"metadata.deletionTimestamp", "metadata.finalizers", "metadata.ownerReferences",
}

// Set is a tree of the fields to leave out, by their JSON names. A path passes through lists:
// "spec.containers.env" is the env of every container. The keys of maps are names as well.
type Set struct {
	children map[string]*Set // a nil value: the field itself is left out
}

// Parse reads paths such as "metadata.managedFields". It returns [ErrRefused] for an empty path,
// and for a path to or above a needed field: identity, version, deletionTimestamp, finalizers and
// ownerReferences. Without paths the set is nil. The same paths make the same set, so that what a
// decoder plans for it is planned once.
func Parse(paths ...string) (*Set, error) {
	for _, path := range paths {
		if err := check(path); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	sets.mu.Lock()
	defer sets.mu.Unlock()

	name := fmt.Sprintf("%q", slices.Compact(slices.Sorted(slices.Values(paths))))
	if sets.byPaths == nil {
		sets.byPaths = make(map[string]*Set)
	}
	if sets.byPaths[name] == nil {
		s := &Set{children: make(map[string]*Set)}
		for _, path := range paths {
			s.add(strings.Split(path, "."))
		}
		sets.byPaths[name] = s
	}
	return sets.byPaths[name], nil
}

// sets holds the sets that were made. A program has a few.
var sets struct {
	mu      sync.Mutex
	byPaths map[string]*Set // by the sorted paths
}

func check(path string) error {
	for _, name := range strings.Split(path, ".") {
		if name == "" {
			return fmt.Errorf("%w: %q is not a path of field names", ErrRefused, path)
		}
	}
	for _, n := range needed {
		if n == path || strings.HasPrefix(n, path+".") || strings.HasPrefix(path, n+".") {
			return fmt.Errorf("%w: %q contains %q", ErrRefused, path, n)
		}
	}
	return nil
}

func (s *Set) add(names []string) {
	child, known := s.children[names[0]]
	switch {
	case known && child == nil: // all of it is left out already
	case len(names) == 1:
		s.children[names[0]] = nil
	case !known:
		child = &Set{children: make(map[string]*Set)}
		s.children[names[0]] = child
		fallthrough
	default:
		child.add(names[1:])
	}
}

// Of returns the set below a field, and whether the field itself is left out.
func (s *Set) Of(name string) (below *Set, leftOut bool) {
	if s == nil {
		return nil, false
	}
	below, known := s.children[name]
	return below, known && below == nil
}
