package informer

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// put is an object that was put into the store, and what it has replaced.
type put struct {
	old, now any
	replaced bool
	was, is  identity // of old, where that was replaced, and of now
	initial  bool     // now belongs to the first full state of its source
}

// logPut logs an add, an update or, where another object has come back under the key,
// a delete and an add.
func (c *core) logPut(key indexer.Key, p put) {
	switch {
	case !p.replaced:
		h := eventlog.Header{Kind: eventlog.Added}
		if p.initial {
			h.Flags = eventlog.Initial
		}
		c.append(eventlog.Event{Pair: eventlog.Pair{New: p.now}, Header: h}, key, p.is)
	case p.was.sameObject(p.is):
		c.append(eventlog.Event{Pair: eventlog.Pair{Old: p.old, New: p.now}, Header: eventlog.Header{Kind: eventlog.Updated}}, key, p.is)
	default:
		c.append(eventlog.Event{
			Pair:   eventlog.Pair{Old: p.old, New: p.old},
			Header: eventlog.Header{Kind: eventlog.Deleted, Flags: eventlog.Lost | eventlog.Recreated},
		}, key, p.was)
		c.append(eventlog.Event{
			Pair:   eventlog.Pair{Old: p.old, New: p.now},
			Header: eventlog.Header{Kind: eventlog.Added, Flags: eventlog.Recreated},
		}, key, p.is)
	}
}

// logLost logs the delete of an object that a full state does not hold any more.
func (c *core) logLost(key indexer.Key, last any, id identity) {
	c.append(eventlog.Event{
		Pair:   eventlog.Pair{Old: last, New: last},
		Header: eventlog.Header{Kind: eventlog.Deleted, Flags: eventlog.Lost},
	}, key, id)
}

// append appends an event to the log. Its objects tell its key and UID, but where the
// transform may have changed them, or where there may be none.
func (c *core) append(e eventlog.Event, key indexer.Key, id identity) {
	c.note(e.Header, key, id.version)
	if c.options.Transform == nil && !e.Is(eventlog.Lost) {
		c.processor.log.Append(e)
		return
	}
	c.processor.log.AppendAs(e, eventlog.Identity{Key: key, UID: id.uid})
}

// note counts an event, and lets those who inspect the informer know of it. A delete of
// what was not stored changes nothing.
func (c *core) note(h eventlog.Header, key indexer.Key, version string) {
	if h.Is(eventlog.Unknown) {
		return
	}
	c.tally.event(h.Kind)
	if m := c.measures.Load(); m != nil {
		m.recent.note(h.Kind, key, version)
	}
}
