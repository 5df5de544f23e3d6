package informertest

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// model is an API server without time, goroutines, locks and a network: a
// counter of versions, and one collection for each resource. A shell around
// it serializes the calls. What it hands out is shared with it and with all
// other callers, and must not be changed.
type model struct {
	// noWatchList and noWatchCache are [Options].NoWatchList and NoWatchCache.
	noWatchList, noWatchCache bool
	// version is that of the last change, of whichever resource.
	// Invariant: no change in any collection has a larger one.
	version uint64
	// compacted is where the history begins: states before it are forgotten.
	// Invariant: compacted <= version.
	compacted uint64
	// marks counts the bookmarks that were put into the histories.
	marks       uint64
	collections map[schema.GroupVersionResource]*collection
}

// newModel returns an empty server. As in a fresh etcd, the version is 1: a
// list of nothing must not say 0, which means "any version" when asked for.
func newModel() *model {
	return &model{version: 1, collections: map[schema.GroupVersionResource]*collection{}}
}

func (m *model) register(k kind) {
	m.collections[k.GVR] = newCollection(k)
}

// unregister deletes a resource, and its objects with it.
func (m *model) unregister(r schema.GroupVersionResource) {
	c := m.collections[r]
	for path, obj := range c.scan("", "", m.version) {
		m.commit(c, writing{}, &change{path: path, old: obj})
	}
	c.dropped = true
	delete(m.collections, r)
}

// collection returns the collection that a request's path names. A cluster
// has no path for a namespace of a resource that is not namespaced.
func (m *model) collection(r schema.GroupVersionResource, namespace string) (*collection, error) {
	c := m.collections[r]
	if c == nil || namespace != "" && !c.kind.Namespaced {
		return nil, errNotServed()
	}
	return c, nil
}

// compact forgets the history up to now. Cursors that are under way keep what
// they still have to read.
func (m *model) compact() {
	m.compacted = m.version
	for _, c := range m.collections {
		c.compact()
	}
}

// bookmark tells every cursor that asked for bookmarks how far it is. The
// bookmark goes into the history, so that its place among the changes is the
// same for all, however fast they read.
func (m *model) bookmark() {
	m.marks++
	for _, c := range m.collections {
		c.append(&change{version: m.version, mark: m.marks})
	}
}

// format spells a version as it appears in objects.
func format(version uint64) string { return strconv.FormatUint(version, 10) }

// parseVersion reads the version that a request names; none is 0.
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

// value reads an optional value; none is the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
