package eventlog

import (
	"strings"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Kind is the kind of an event.
type Kind uint8

// The kinds of events.
const (
	Added Kind = iota + 1
	Updated
	Deleted
)

// Flags has further properties of an event.
type Flags uint8

// The flags of events.
const (
	// Initial marks an add of the initial state.
	Initial Flags = 1 << iota
	// Lost marks a delete whose final state is unknown: no watch event had the object, or its transform
	// failed.
	Lost
	// Recreated marks the delete and the add of an object that was replaced by another object with the same
	// key.
	Recreated
	// LastStored marks a Lost delete that the program itself made. client-go's handlers get the last known
	// state, and not a tombstone.
	LastStored
	// noted marks an event whose identity is stored separately, because its objects do not show it.
	noted
)

// Pair holds the objects before and after an event, if they exist. For a delete, [Deletion] makes them, and
// Final and Stored return them.
type Pair struct{ Old, New any }

// Deletion returns the objects of a delete. final is the last state of the object on the server. stored is
// the state in the store, which the handlers have got. If the store did not have the object, both are the
// final state.
func Deletion(final, stored any) Pair { return Pair{Old: final, New: stored} }

// Final returns the final state of a deleted object, or the last known one if it is lost.
func (p *Pair) Final() any { return p.Old }

// Stored returns the state of a deleted object that was in the store.
func (p *Pair) Stored() any { return p.New }

// Last returns the last object of an event of a kind: for a delete the final state, and otherwise the object
// after the event.
func (p *Pair) Last(k Kind) any {
	if k == Deleted {
		return p.Final()
	}
	return p.New
}

// Header is an event without its objects.
type Header struct {
	Kind  Kind
	Flags Flags
}

// Is reports whether any of the flags in f is set.
func (h Header) Is(f Flags) bool { return h.Flags&f != 0 }

// needsKey reports whether the event is delivered with its key, as client-go's tombstones are.
func (h Header) needsKey() bool { return h.Flags&(Lost|Recreated|LastStored) == Lost }

// Event is one entry of the log.
type Event struct {
	Pair
	Header
}

// identity reads the key and the UID from the objects of the event. It returns false if they do not show
// them.
func (e Event) identity() (id object.Identity, ok bool) {
	m := object.Meta(e.Last(e.Kind))
	if m == nil {
		return id, false
	}
	return object.Identity{Key: object.Key(m), UID: string(m.GetUID())}, true
}

// Subject is the object of an event. It keeps the object, so that its key is read only when needed.
type Subject struct{ object any }

// Key returns the key of the object, in memory of its own.
func (s Subject) Key() (key indexer.Key) {
	if m := object.Meta(s.object); m != nil {
		key = object.Key(m)
	}
	return indexer.Key{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}
}
