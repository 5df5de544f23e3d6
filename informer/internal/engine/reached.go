package engine

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// reached records, for each source, the version up to which its changes are in the store. The lowest of these
// versions is the store's. It is looked up only after the source with the lowest version has moved. Only one
// goroutine uses the fields above mu.
type reached struct {
	versions    []string // by source
	low         uint16   // if known is set, the source with the lowest version
	known       bool
	unpublished []uint16 // sources whose versions are ahead of published

	mu        sync.Mutex
	published []string // by source: versions whose changes are in the store and in the log
}

// newReached returns the record of sources without versions.
func newReached(sources int) *reached {
	return &reached{versions: make([]string, sources), published: make([]string, sources)}
}

// publishedVersion returns the version of a source whose changes are in the store and in the log. It is safe
// for concurrent use.
func (r *reached) publishedVersion(source uint16) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.published[source]
}

// publish publishes the versions at the end of a write section, when its changes are in the store and in the
// log.
func (r *reached) publish() {
	if len(r.unpublished) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, source := range r.unpublished {
		r.published[source] = r.versions[source]
	}
	r.unpublished = r.unpublished[:0]
}

func (r *reached) move(source uint16, version string) {
	r.versions[source] = version
	if n := len(r.unpublished); n == 0 || r.unpublished[n-1] != source {
		r.unpublished = append(r.unpublished, source)
	}
}

// advance moves a source's version forward. It ignores an older version.
func (r *reached) advance(source uint16, version string) {
	current := r.versions[source]
	next := object.Advance(current, version)
	if next == current {
		return
	}
	if source == r.low || !object.Comparable(current) { // a version that does not compare ranks highest, and the next one may be the lowest
		r.known = false
	}
	r.move(source, next)
}

// set sets a source's version, which may be older than before.
func (r *reached) set(source uint16, version string) {
	r.move(source, version)
	r.known = false
}

// lowest returns the lowest version of all sources. A version that does not compare counts only if none
// compares.
func (r *reached) lowest() string {
	if !r.known && len(r.versions) > 1 {
		r.find()
	}
	return r.versions[r.low]
}

// find finds the source with the lowest version.
func (r *reached) find() {
	r.low, r.known = 0, true
	for source, version := range r.versions {
		if ranksLower(version, r.versions[r.low]) {
			r.low = uint16(source) //nolint:gosec // at most maxSources
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
