package engine

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// reached records, for each source, the version up to which its changes are in the store. The lowest
// of them is the store's version. It is looked for among all sources only if the source that had the
// lowest version has moved. Only one goroutine uses the fields above mu.
type reached struct {
	versions    []string // by source
	low         uint16   // if known is set, the source with the lowest version
	known       bool
	unpublished []uint16 // sources whose versions are ahead of published

	mu        sync.Mutex
	published []string // by source: versions whose changes readers find in the store, and handlers get
}

// newReached returns the record of sources that have not reached a version yet.
func newReached(sources int) *reached {
	return &reached{versions: make([]string, sources), published: make([]string, sources)}
}

// publishedVersion returns the version of a source whose changes readers find in the store, and handlers
// get. Any goroutine may call it.
func (r *reached) publishedVersion(source uint16) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.published[source]
}

// publish publishes the versions at the end of a write section, when its changes are in the store and
// in the log.
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

// advance moves a source's version forward. An older version changes nothing.
func (r *reached) advance(source uint16, version string) {
	current := r.versions[source]
	next := object.Advance(current, version)
	if next == current {
		return
	}
	if source == r.low || !object.Comparable(current) { // one that does not compare ranks highest, and the next may rank lowest
		r.known = false
	}
	r.move(source, next)
}

// set sets a source's version, which may be older than before.
func (r *reached) set(source uint16, version string) {
	r.move(source, version)
	r.known = false
}

// lowest returns the lowest version of all sources. A version that does not compare counts only if no
// version compares.
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
