package informer

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// reached holds the version of each part: the store has all changes up to it. The lowest one is the
// store's version. It is at the top of a heap, so an event costs the same for any number of parts.
// Owned by the processLoop, except for shown.
//
// The heap is ordered by the versions in seen, from the last look at each part. Versions advance,
// so only the top needs a fresh look: a part above it cannot have become the lowest.
//
// Invariant: while sorted, heap holds each part once, no part before its parent by seen, and no
// part's version is before its seen one.
type reached struct {
	versions []string // of each part
	seen     []string
	heap     []uint16
	sorted   bool
	moved    []uint16 // the parts whose versions are not shown yet, if there are several parts

	mu    sync.Mutex
	shown []string // the versions visible in the store, if there are several parts
}

func newReached(parts int) *reached {
	return &reached{versions: make([]string, parts), shown: make([]string, parts)}
}

// now returns the visible version of a part, if there are several parts. The version of a single
// part is the store's. Safe for any goroutine.
func (r *reached) now(part uint16) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.shown[part]
}

// show makes the versions visible at the end of a write section.
func (r *reached) show() {
	if len(r.moved) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, part := range r.moved {
		r.shown[part] = r.versions[part]
	}
	r.moved = r.moved[:0]
}

func (r *reached) write(part uint16, version string) {
	r.versions[part] = version
	if n := len(r.moved); len(r.versions) > 1 && (n == 0 || r.moved[n-1] != part) {
		r.moved = append(r.moved, part)
	}
}

// of returns the version of a part.
func (r *reached) of(part uint16) string { return r.versions[part] }

// advance moves a part's version on.
func (r *reached) advance(part uint16, version string) {
	current := r.versions[part]
	next := object.Advance(current, version)
	if next == current {
		return
	}
	if r.sorted && !ordered(current) {
		r.sorted = false // it may rank lower now
	}
	r.write(part, next)
}

// set puts a part at a version, which may be an earlier one.
func (r *reached) set(part uint16, version string) {
	r.write(part, version)
	r.sorted = false
}

// lowest returns the lowest version of all parts. Versions that do not compare count only if none
// compares.
func (r *reached) lowest() string {
	if len(r.versions) == 1 {
		return r.versions[0]
	}
	if !r.sorted {
		r.sort()
	}
	for {
		top := r.heap[0]
		if r.seen[top] == r.versions[top] {
			return r.versions[top]
		}
		r.seen[top] = r.versions[top]
		r.sink(0)
	}
}

// sort makes the heap.
func (r *reached) sort() {
	r.seen = append(r.seen[:0], r.versions...)
	r.heap = r.heap[:0]
	for part := range r.versions {
		r.heap = append(r.heap, uint16(part)) //nolint:gosec // at most maxSources
	}
	for i := len(r.heap)/2 - 1; i >= 0; i-- {
		r.sink(i)
	}
	r.sorted = true
}

// sink moves a part of the heap down to its place.
func (r *reached) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(r.heap) {
			return
		}
		if next := child + 1; next < len(r.heap) && r.before(next, child) {
			child = next
		}
		if !r.before(child, i) {
			return
		}
		r.heap[i], r.heap[child] = r.heap[child], r.heap[i]
		i = child
	}
}

func (r *reached) before(i, j int) bool {
	a, b := r.seen[r.heap[i]], r.seen[r.heap[j]]
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return ordered(a) && !ordered(b)
	}
	return order < 0
}

// ordered reports whether a version compares with others.
func ordered(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}
