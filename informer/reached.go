package informer

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// reached records, for each part, the version up to which its changes are in the store. The lowest
// of them is the store's version. A heap keeps it at the top, so that an event costs the same for
// any number of parts. Only the processLoop uses the fields above mu.
//
// The heap is ordered by the versions that it has last seen, which may be behind: versions only
// advance while the heap is sorted. So the lowest version is found by looking again at the top
// alone, until the top has not moved.
//
// Invariant: while sorted, heap holds each part once, no part is before its parent by seen, and
// versions[p] >= seen[p] for every part p.
type reached struct {
	versions    []string // by part
	seen        []string // by part
	heap        []uint16
	sorted      bool
	unpublished []uint16 // parts whose versions are ahead of published; not used with a single part

	mu        sync.Mutex
	published []string // by part: versions whose changes readers find in the store; not used with a single part
}

func newReached(parts int) *reached {
	return &reached{versions: make([]string, parts), published: make([]string, parts)}
}

// publishedVersion returns the version of a part whose changes readers find in the store. It is for
// informers with several parts: the version of a single part is the store's. Any goroutine may call
// it.
func (r *reached) publishedVersion(part uint16) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.published[part]
}

// publish publishes the versions at the end of a write section, when its changes are in the store.
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

// version returns the version that a part has reached.
func (r *reached) version(part uint16) string { return r.versions[part] }

// advance moves a part's version forward. An older version changes nothing.
func (r *reached) advance(part uint16, version string) {
	current := r.versions[part]
	next := object.Advance(current, version)
	if next == current {
		return
	}
	if r.sorted && !comparableVersion(current) {
		r.sorted = false // a version that does not compare ranks highest, the next may rank lower
	}
	r.move(part, next)
}

// set sets a part's version, which may be older than before.
func (r *reached) set(part uint16, version string) {
	r.move(part, version)
	r.sorted = false
}

// lowest returns the lowest version of all parts. A version that does not compare counts only if no
// version compares.
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

// sort builds the heap.
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

// siftDown moves the part at index i of the heap down to its place.
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

// comparableVersion reports whether a version compares with others.
func comparableVersion(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}
