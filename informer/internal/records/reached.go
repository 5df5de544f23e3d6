package records

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Reached records, for each part, the version up to which its changes are in the store. The lowest
// of them is the store's version. It is looked for among all parts only if the part that had the
// lowest version has moved. Only one goroutine uses the fields above mu.
type Reached struct {
	versions    []string // by part
	low         uint16   // if known is set, the part with the lowest version
	known       bool
	unpublished []uint16 // parts whose versions are ahead of published; not used with a single part

	mu        sync.Mutex
	published []string // by part: versions whose changes readers find in the store; not used with a single part
}

// NewReached returns the record of some parts, none of which has reached a version.
func NewReached(parts int) *Reached {
	return &Reached{versions: make([]string, parts), published: make([]string, parts)}
}

// PublishedVersion returns the version of a part whose changes readers find in the store. It is for
// informers with several parts: the version of a single part is the store's. Any goroutine may call
// it.
func (r *Reached) PublishedVersion(part uint16) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.published[part]
}

// Publish publishes the versions at the end of a write section, when its changes are in the store.
func (r *Reached) Publish() {
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

func (r *Reached) move(part uint16, version string) {
	r.versions[part] = version
	if n := len(r.unpublished); len(r.versions) > 1 && (n == 0 || r.unpublished[n-1] != part) {
		r.unpublished = append(r.unpublished, part)
	}
}

// Version returns the version that a part has reached.
func (r *Reached) Version(part uint16) string { return r.versions[part] }

// Advance moves a part's version forward. An older version changes nothing.
func (r *Reached) Advance(part uint16, version string) {
	current := r.versions[part]
	next := object.Advance(current, version)
	if next == current {
		return
	}
	if part == r.low || !object.Comparable(current) { // one that does not compare ranks highest, and the next may rank lowest
		r.known = false
	}
	r.move(part, next)
}

// Set sets a part's version, which may be older than before.
func (r *Reached) Set(part uint16, version string) {
	r.move(part, version)
	r.known = false
}

// Lowest returns the lowest version of all parts. A version that does not compare counts only if no
// version compares.
func (r *Reached) Lowest() string {
	if !r.known && len(r.versions) > 1 {
		r.find()
	}
	return r.versions[r.low]
}

// find finds the part with the lowest version.
func (r *Reached) find() {
	r.low, r.known = 0, true
	for part, version := range r.versions {
		if ranksLower(version, r.versions[r.low]) {
			r.low = uint16(part) //nolint:gosec // at most maxSources
		}
	}
}

func ranksLower(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return object.Comparable(a) && !object.Comparable(b)
	}
	return order < 0
}
