package eventlog

import (
	"strings"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Subject is the object of an event. It keeps the object, so that its key is read only when needed.
type Subject struct{ object any }

// Ahead returns the subject of the next event. There must be one.
func (b *Batch) Ahead() Subject {
	return Subject{b.pairs[b.next].Last(b.headers[b.next].Kind)}
}

// Key returns the key of the object, in memory of its own.
func (s Subject) Key() (key indexer.Key) {
	if m := object.Meta(s.object); m != nil {
		key = object.Key(m)
	}
	return indexer.Key{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}
}
