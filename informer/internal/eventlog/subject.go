package eventlog

import (
	"strings"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Subject tells whom an event is about. It holds on to the event's object, so that the
// key need not be read before somebody asks.
type Subject struct {
	object any
	key    indexer.Key // where there is no object
}

// Ahead returns whom the next event is about, of which there is one.
func (b *Batch) Ahead() Subject { return b.subject(b.next) }

// Behind returns whom the event is about that was told last, if there is one.
func (b *Batch) Behind() Subject {
	if b.next == 0 {
		return Subject{}
	}
	return b.subject(b.next - 1)
}

func (b *Batch) subject(i int) Subject {
	p, h := &b.pairs[i], b.headers[i]
	switch {
	case h.Is(Lost) && h.Is(Unknown):
		return Subject{key: b.key}
	case h.Kind == Deleted:
		return Subject{object: p.Old}
	}
	return Subject{object: p.New}
}

// Behind returns whom the event before the cursor is about, if its segment is still at hand.
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
