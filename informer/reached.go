package informer

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// reached is up to which version the changes of each part are in the store. The
// lowest of them is the store's: it is kept at the top of a heap, so that an event
// costs the same for any number of parts. The processLoop's own, but for what is shown.
//
// The heap is of what the parts had reached when it last looked at them. Versions
// advance, so only its top is looked at anew: a part above it cannot have become the
// lowest.
//
// Invariant: while sorted, heap holds each part once, none before its parent by seen,
// and no part's version is before what was seen of it.
type reached struct {
	versions    []string // of each part
	seen        []string
	heap        []uint16
	sorted      bool
	unpublished []uint16 // the parts whose versions are not shown yet, of several

	mu        sync.Mutex
	published []string // the versions whose changes others find in the store, of several parts
}

func newReached(parts int) *reached {
	return &reached{versions: make([]string, parts), published: make([]string, parts)}
}

// now returns the version of a part whose changes are in the store, where there are
// several parts. That of an only one is the store's version. Safe for any goroutine.
func (r *reached) publishedVersion(part uint16) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.published[part]
}

// show is called at the end of a write section: its changes are in the store.
func (r *reached) publish() {
	if len(r.unpublished) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, part := range r.unpublished {
		r.published[part] = r.versions[part]
	}
	r.unpublished = r.unpublished[:0]
}

func (r *reached) move(part uint16, version string) {
	r.versions[part] = version
	if n := len(r.unpublished); len(r.versions) > 1 && (n == 0 || r.unpublished[n-1] != part) {
		r.unpublished = append(r.unpublished, part)
	}
}

// of returns the version that a part has reached.
func (r *reached) version(part uint16) string { return r.versions[part] }

// advance moves a part's version on.
func (r *reached) advance(part uint16, version string) {
	current := r.versions[part]
	next := object.Advance(current, version)
	if next == current {
		return
	}
	if r.sorted && !comparableVersion(current) {
		r.sorted = false // it may rank lower now
	}
	r.move(part, next)
}

// set puts a part at a version, which may be back.
func (r *reached) set(part uint16, version string) {
	r.move(part, version)
	r.sorted = false
}

// lowest returns the lowest version of all parts. Those that do not compare count only
// where none does.
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
		r.siftDown(0)
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
		r.siftDown(i)
	}
	r.sorted = true
}

// sink moves the part at a place of the heap down to where it belongs.
func (r *reached) siftDown(i int) {
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
		return comparableVersion(a) && !comparableVersion(b)
	}
	return order < 0
}

// ordered tells whether a version compares with others.
func comparableVersion(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}
