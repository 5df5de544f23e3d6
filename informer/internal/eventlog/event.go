package eventlog

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Kind tells what an event reports.
type Kind uint8

// The kinds of events.
const (
	Added Kind = iota + 1
	Updated
	Deleted
)

// Flags are what is known of an event beside its kind.
type Flags uint8

// The flags of events.
const (
	// Initial marks an add of the initial state.
	Initial Flags = 1 << iota
	// Lost marks a delete that was found out from a list: the final state is unknown.
	Lost
	// Recreated marks the delete and the add of an object that was replaced by
	// another one under its key.
	Recreated
	// Unknown marks a delete of an object that was not stored.
	Unknown
	// noted marks an event whose identity stands beside it, since the objects do not
	// tell it.
	noted
)

// Pair holds the objects of an event. A delete has the final state as Old and the
// version that was stored, which the handlers know, as New.
type Pair struct{ Old, New any }

// Header is an event without its objects.
type Header struct {
	Kind  Kind
	Flags Flags
}

// Is tells whether any of some flags is set.
func (h Header) Is(f Flags) bool { return h.Flags&f != 0 }

// needsKey tells whether the event is told with its key, as client-go's tombstones
// are.
func (h Header) needsKey() bool { return h.Flags&(Lost|Recreated) == Lost }

// Event is one entry of the log.
type Event struct {
	Pair
	Header
}

// Identity is the key and the UID of the object that an event is about.
type Identity struct {
	Key indexer.Key
	UID string
}

// identity reads the identity from the objects of the event. It returns false if
// they do not tell it.
func (e Event) identity() (id Identity, ok bool) {
	obj := e.New
	if e.Kind == Deleted {
		obj = e.Old
	}
	if e.Is(Lost) && e.Is(Unknown) {
		return id, false // there is no object
	}
	m := object.Meta(obj)
	if m == nil {
		return id, false
	}
	return Identity{object.Key(m), string(m.GetUID())}, true
}
