package informertest

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// model is an API server without time, goroutines, locks and a network: a counter of versions,
// and one collection for each resource. A shell around it serializes the calls. The objects that
// it returns belong to the model and to all other callers; nobody may change them.
type model struct {
	// noWatchList and noWatchCache are [Options].NoWatchList and NoWatchCache.
	noWatchList, noWatchCache bool
	// version is the version of the last change of any resource. Invariant: no change in any
	// collection has a larger one.
	version uint64
	// compacted is the beginning of the history: earlier states are forgotten. Invariant:
	// compacted <= version.
	compacted uint64
	// marks counts the bookmarks in the histories.
	marks       uint64
	collections map[schema.GroupVersionResource]*collection
}

// newModel returns an empty server. As in a fresh etcd, the version is 1: the version of an empty
// list must not be 0, which means "any version" in a request.
func newModel() *model {
	return &model{version: 1, collections: map[schema.GroupVersionResource]*collection{}}
}

func (m *model) register(k kind) {
	m.collections[k.GVR] = newCollection(k)
}

// unregister deletes a resource with its objects.
func (m *model) unregister(r schema.GroupVersionResource) {
	c := m.collections[r]
	for path, obj := range c.scan("", "", m.version) {
		m.commit(c, writing{}, &change{path: path, old: obj})
	}
	c.dropped = true
	delete(m.collections, r)
}

// collection returns the collection of a request's path. A resource without namespaces has no
// path with a namespace.
func (m *model) collection(r schema.GroupVersionResource, namespace string) (*collection, error) {
	c := m.collections[r]
	if c == nil || namespace != "" && !c.kind.Namespaced {
		return nil, errNotServed()
	}
	return c, nil
}

// compact forgets the history up to now. A cursor keeps the changes that it still has to read.
func (m *model) compact() {
	m.compacted = m.version
	for _, c := range m.collections {
		c.compact()
	}
}

// bookmark sends a bookmark to every cursor that asked for bookmarks. The bookmark goes into the
// history, so that its place among the changes is the same for slow and fast readers.
func (m *model) bookmark() {
	m.marks++
	for _, c := range m.collections {
		c.append(&change{version: m.version, mark: m.marks})
	}
}

// format returns a version as objects have it.
func format(version uint64) string { return strconv.FormatUint(version, 10) }

// parseVersion reads the version in a request; without one it is 0.
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
