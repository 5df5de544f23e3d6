package engine

import (
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// put describes an object put into the store, and the object that it replaced.
type put struct {
	old, now any
	replaced bool
	was, is  object.Identity // was: of old, if an object was replaced; is: of now
	initial  bool            // now belongs to the first full state of its source
}

// logPut logs an add or an update. For another object under the same key it logs a delete and an add.
func (a *applier) logPut(p put) {
	switch {
	case !p.replaced:
		h := eventlog.Header{Kind: eventlog.Added}
		if p.initial {
			h.Flags = eventlog.Initial
		}
		a.append(eventlog.Event{Pair: eventlog.Pair{New: p.now}, Header: h}, p.is)
	case p.was.SameObject(p.is):
		a.append(eventlog.Event{Pair: eventlog.Pair{Old: p.old, New: p.now}, Header: eventlog.Header{Kind: eventlog.Updated}}, p.is)
	default:
		a.append(eventlog.Event{
			Pair:   eventlog.Deletion(p.old, p.old),
			Header: eventlog.Header{Kind: eventlog.Deleted, Flags: eventlog.Lost | eventlog.Recreated},
		}, p.was)
		a.append(eventlog.Event{
			Pair:   eventlog.Pair{Old: p.old, New: p.now},
			Header: eventlog.Header{Kind: eventlog.Added, Flags: eventlog.Recreated},
		}, p.is)
	}
}

// logLost logs the delete of an object whose final state is unknown.
func (a *applier) logLost(last any, id object.Identity) {
	e := deletion(last, last)
	e.Flags = eventlog.Lost
	a.append(e, id)
}

// deletion returns the event of a delete.
func deletion(final, stored any) eventlog.Event {
	return eventlog.Event{Pair: eventlog.Deletion(final, stored), Header: eventlog.Header{Kind: eventlog.Deleted}}
}

// append adds an event of the store to the log, and counts it.
func (a *applier) append(e eventlog.Event, id object.Identity) {
	a.note(e.Header, id)
	a.appendUncounted(e, id)
}

// appendUncounted adds an event to the log. The log stores the key and UID only if the objects may not show
// them: if an object is missing, or a transform may have changed them.
func (a *applier) appendUncounted(e eventlog.Event, id object.Identity) {
	if a.options.Transform == nil && !e.Is(eventlog.Lost) {
		a.log.Append(e)
		return
	}
	a.log.AppendAs(e, id)
}

// note counts an event, and adds it to the recent events for the inspector.
func (a *applier) note(h eventlog.Header, id object.Identity) {
	a.tally.count(h.Kind, 1)
	if m := a.inspection.Load(); m != nil {
		m.Recent.Note(h.Kind, id.Key, id.Version)
	}
}
