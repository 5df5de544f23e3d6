package indexer

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// Query selects the objects that meet all its conditions, for [Indexer.Find]. It is plain data: it
// may be kept, copied and printed. The zero value selects all objects.
type Query struct {
	// Namespace selects the objects of a namespace, which no cluster-scoped object is in; "" stands for
	// all of them.
	Namespace string
	// Labels selects by labels as a lister does. Nil selects all objects, and labels.Nothing() none. The
	// Matches of a Selector that is not of package labels is called for each object that meets the other
	// conditions, on the goroutine of Find's caller and with no lock held.
	Labels labels.Selector
	// Fields selects the objects that are under a value of each of these indexes, by the indexes'
	// names. An object on which an index function has failed is under no value of that index.
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
