package eventlog

import (
	"strings"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Subject is the object of an event. It holds on to the object, so that its key is read only on
// demand.
type Subject struct {
	object any
	key    indexer.Key // if there is no object
}

// Ahead returns the subject of the next event. There must be one.
func (b *Batch) Ahead() Subject {
	h := b.headers[b.next]
	if h.Is(Lost) && h.Is(NotStored) {
		return Subject{key: b.keys[b.nextKey]}
	}
	return Subject{object: b.pairs[b.next].Last(h.Kind)}
}

// Key returns the key of the object, in memory of its own.
func (s Subject) Key() indexer.Key {
	key := s.key
	if m := object.Meta(s.object); m != nil {
		key = object.Key(m)
	}
	return indexer.Key{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}
}
