package kit

import "k8s.io/apimachinery/pkg/types"

// Object is a pointer to an API object.
type Object interface {
	comparable
	GetNamespace() string
	GetName() string
	GetUID() types.UID
	GetResourceVersion() string
}

// Change is a call of a handler. The methods named Wrong... are its rules. Each gets the object of the
// handler's previous call, or nil if there is none, and returns a problem, or "".
type Change[T Object] struct {
	Kind          string // "added", "updated" or "deleted"
	Old, New      T      // nil if changes of this kind have no such object
	Initial, Lost bool
}

// Subject returns the new object, or the old object of a delete.
func (c Change[T]) Subject() T {
	var none T
	if c.New != none {
		return c.New
	}
	return c.Old
}

// WrongKind checks that the first change is an add, and that no second add comes before a delete.
func (c Change[T]) WrongKind(known T) string {
	var none T
	switch {
	case c.Kind != "added" && c.Kind != "updated" && c.Kind != "deleted":
		return "no kind"
	case c.Kind == "added" && known != none:
		return "an add of a known object"
	case c.Kind != "added" && known == none:
		return "an unknown object, but not an add"
	}
	return ""
}

// WrongObjects checks that the old object of a change is the object that the handler knows. If events
// are merged, a lost delete may have a version that the handler has not seen.
func (c Change[T]) WrongObjects(known T, merged bool) string {
	var none T
	switch {
	case c.Kind == "added" && c.Old != none:
		return "an add with an old object"
	case c.Kind == "updated" && c.Old != known:
		return "an update whose old object is not the last one"
	case c.Kind == "deleted" && c.Lost && !merged && c.Old != known:
		return "a lost delete of an object that is not the last one"
	case c.Kind == "deleted" && c.New != none:
		return "a delete with a new object"
	}
	return ""
}

// WrongUID checks that an object keeps its UID until it is deleted, as the typed API guarantees.
func (c Change[T]) WrongUID(known T) string {
	var none T
	switch {
	case c.Kind == "added" || known == none || c.Subject().GetUID() == known.GetUID():
		return ""
	case c.Kind == "updated":
		return "an update from one UID to another"
	}
	return "a delete with another UID"
}

// WrongFlags checks that only adds are initial, and that only deletes are lost.
func (c Change[T]) WrongFlags() string {
	if c.Initial && c.Kind != "added" || c.Lost && c.Kind != "deleted" {
		return "a flag that does not belong to this kind of event"
	}
	return ""
}
