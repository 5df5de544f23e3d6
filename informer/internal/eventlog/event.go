package eventlog

import "github.com/tidemark-k8s/tidemark/internal/object"

// Kind is the kind of an event.
type Kind uint8

// The kinds of events.
const (
	Added Kind = iota + 1
	Updated
	Deleted
)

// Flags are further properties of an event.
type Flags uint8

// The flags of events.
const (
	// Initial marks an add of the initial state.
	Initial Flags = 1 << iota
	// Lost marks a delete whose final state is unknown: no watch event brought the object, or its
	// transform failed.
	Lost
	// Recreated marks the delete and the add of an object that another one under the same key has
	// replaced.
	Recreated
	// LastStored marks a Lost delete that the program made itself. client-go's handlers get the last known
	// state, and not a tombstone.
	LastStored
	// noted marks an event whose identity is stored separately, because its objects do not show it.
	noted
)

// Pair holds the objects of an event: the one before it, if there was one, and the one after it. Those of
// a delete are made by [Deletion], and read by Final and Stored.
type Pair struct{ Old, New any }

// Deletion returns the objects of a delete: final is the last state of the object on the server, and stored
// the state that the store held, which the handlers have got. If the store held none, both are the final state.
func Deletion(final, stored any) Pair { return Pair{Old: final, New: stored} }

// Final returns the final state of a deleted object, or the last known one if it is lost.
func (p *Pair) Final() any { return p.Old }

// Stored returns the state of a deleted object that the store held.
func (p *Pair) Stored() any { return p.New }

// Last returns the last object of an event of a kind: the final state for a delete, and else the object after
// the event.
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

// Is reports whether any of some flags is set.
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
