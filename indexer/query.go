package indexer

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// Query selects the objects that meet all its conditions, for [Indexer.Find]. It is plain data that
// programs may keep, copy and print. The zero value selects all objects.
type Query struct {
	// Namespace selects the objects of a namespace. Cluster-scoped objects are in none. "" selects
	// all namespaces and cluster-scoped objects.
	Namespace string
	// Labels selects by labels, as a lister does. Nil selects all objects, and labels.Nothing()
	// none. If the Selector is not from package labels, Find calls its Matches for each object that
	// meets the other conditions, on the caller's goroutine and without locks.
	Labels labels.Selector
	// Fields maps index names to values, and selects the objects that have all these values. An
	// object on which an index function has failed has no value in that index.
	Fields map[string]string
}

// String describes the query, such as "in shop with app=web and node=n1": "everything" for the zero
// value, and "nothing" with labels.Nothing().
func (q Query) String() string {
	var with, words []string
	if _, some := requirementsOf(q.Labels); !some {
		return "nothing"
	}
	if q.Labels != nil && !q.Labels.Empty() {
		with = append(with, q.Labels.String())
	}
	for _, name := range slices.Sorted(maps.Keys(q.Fields)) {
		with = append(with, name+"="+q.Fields[name])
	}
	if q.Namespace != "" {
		words = append(words, "in "+q.Namespace)
	}
	if len(with) > 0 {
		words = append(words, "with "+strings.Join(with, " and "))
	}
	if len(words) == 0 {
		return "everything"
	}
	return strings.Join(words, " ")
}
