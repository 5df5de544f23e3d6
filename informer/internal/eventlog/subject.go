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
func (b *Batch) Ahead() Subject { return b.subject(b.next, b.nextKey) }

// Behind returns the subject of the event delivered last, if any.
func (b *Batch) Behind() Subject {
	if b.next == 0 {
		return Subject{}
	}
	return b.subject(b.next-1, b.nextKey-1)
}

// subject returns the subject of event i. If the event needs its key, that is number key of the keys.
func (b *Batch) subject(i, key int) Subject {
	p, h := &b.pairs[i], b.headers[i]
	switch {
	case h.Is(Lost) && h.Is(NotStored):
		return Subject{key: b.keys[key]}
	case h.Kind == Deleted:
		return Subject{object: p.Old}
	}
	return Subject{object: p.New}
}

// Behind returns the subject of the event before the cursor, if its segment is still at hand.
func (c Cursor) Behind() Subject {
	if c.i == 0 {
		return Subject{}
	}
	return Subject{key: c.segment.identity(c.i - 1).Key}
}

// Key returns the key of the object, in memory of its own.
func (s Subject) Key() indexer.Key {
	key := s.key
	if m := object.Meta(s.object); m != nil {
		key = object.Key(m)
	}
	return indexer.Key{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}
}
