package informertest

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// model holds the API server's data and rules, without time, goroutines, locks or a network: a counter of
// versions, and a collection for each resource. The [Server] serializes the calls. Callers share the returned
// objects with the model, and must not change them.
type model struct {
	// noWatchList and noWatchCache are [Options].NoWatchList and NoWatchCache.
	noWatchList, noWatchCache bool
	// sharded is [Options].ShardedListAndWatch.
	sharded bool
	// version is the version of the last change to any resource. Invariant: no change in a collection has a
	// larger version.
	version uint64
	// compacted is the version at which the history begins. Older states are forgotten. Invariant: compacted
	// <= version.
	compacted uint64
	// bookmarks counts the bookmarks in the histories.
	bookmarks   uint64
	collections map[schema.GroupVersionResource]*collection
}

// newModel returns an empty model. As in a fresh etcd, its version is 1, because version 0 in a request means
// any version.
func newModel() *model {
	return &model{version: 1, collections: map[schema.GroupVersionResource]*collection{}}
}

func (m *model) register(k kind) {
	m.collections[k.GVR] = newCollection(k, m.version)
}

// unregister removes a resource and its objects.
func (m *model) unregister(r schema.GroupVersionResource) {
	c := m.collections[r]
	for path, obj := range c.scan("", "", m.version) {
		m.commit(c, writing{}, &change{path: path, old: obj})
	}
	c.dropped = true
	delete(m.collections, r)
}

// collection returns the collection of a resource. As in a cluster, a namespaced path of a cluster-scoped
// resource is not served.
func (m *model) collection(r schema.GroupVersionResource, namespace string) (*collection, error) {
	c := m.collections[r]
	if c == nil || namespace != "" && !c.kind.Namespaced {
		return nil, errNotServed()
	}
	return c, nil
}

// compact forgets the history up to now. Open watches still get the changes that they have not read yet.
func (m *model) compact() {
	m.compacted = m.version
	for _, c := range m.collections {
		c.compact()
	}
}

// bookmark sends a bookmark to every watch that has asked for bookmarks. The bookmark is an entry of the
// history. So every watch gets it between the same two changes, no matter how fast the watch is read.
func (m *model) bookmark() {
	m.bookmarks++
	for _, c := range m.collections {
		c.append(&change{version: m.version, bookmark: m.bookmarks})
	}
}

// format returns a version in the form of metadata.resourceVersion.
func format(version uint64) string { return strconv.FormatUint(version, 10) }

// parseVersion parses the version of a request; an empty one is 0.
func parseVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), s, err.Error())
	}
	return version, nil
}

// value returns the value of a pointer, or the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
