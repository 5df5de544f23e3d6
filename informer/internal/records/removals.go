package records

import (
	"maps"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Removals holds the objects that a user has deleted from the store by hand. The handlers still know
// them, and are told of the delete when the source reports it.
type Removals map[indexer.Key]removal

type removal struct {
	source uint16 // of the object; that of objects put by hand if it is not known
	last   any    // as it was stored
}

// Add records an object that a user has deleted.
func (r *Removals) Add(key indexer.Key, source uint16, last any) {
	if *r == nil {
		*r = make(Removals)
	}
	(*r)[key] = removal{source, last}
}

// Source returns the source of the object that a user has deleted under a key, if there is one.
func (r Removals) Source(key indexer.Key) (source uint16, ok bool) {
	found, ok := r[key]
	return found.source, ok
}

// Take removes the object of a key and returns it: the key is written again, or its delete is
// reported.
func (r Removals) Take(key indexer.Key) (last any, ok bool) {
	if len(r) == 0 {
		return nil, false
	}
	found, ok := r[key]
	delete(r, key)
	return found.last, ok
}

// End removes the objects of a source, and those of no known source: a full state has told the handlers
// what there is.
func (r Removals) End(source, unknown uint16) {
	maps.DeleteFunc(r, func(_ indexer.Key, gone removal) bool { return gone.source == source || gone.source == unknown })
}
