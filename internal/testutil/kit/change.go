package kit

import "k8s.io/apimachinery/pkg/types"

// Object is a pointer to an API object, the subject of a [Change].
type Object interface {
	comparable
	GetNamespace() string
	GetName() string
	GetUID() types.UID
	GetResourceVersion() string
}

// Change is one call of a handler. The methods named Wrong... are its rules: each gets the object
// of the handler's previous call, or nil without one, and returns a problem, or "".
type Change[T Object] struct {
	Kind          string // "added", "updated" or "deleted"
	Old, New      T      // nil if the kind has no such object
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

// WrongKind checks that a handler gets an add first, and no second add before a delete.
func (c Change[T]) WrongKind(known T) string {
	var none T
	switch {
	case c.Kind != "added" && c.Kind != "updated" && c.Kind != "deleted":
		return "no kind"
	case c.Kind == "added" && known != none:
		return "an add of what it knows"
	case c.Kind != "added" && known == none:
		return "not an add of what it does not know"
	}
	return ""
}

// WrongObjects checks that the old object of a change is the object that the handler knows. A
// handler with merged events may get a lost delete with a version that it has not seen.
func (c Change[T]) WrongObjects(known T, merged bool) string {
	var none T
	switch {
	case c.Kind == "added" && c.Old != none:
		return "an add with an old"
	case c.Kind == "updated" && c.Old != known:
		return "an update from what it did not see last"
	case c.Kind == "deleted" && c.Lost && !merged && c.Old != known:
		return "a lost delete of what it did not see last"
	case c.Kind == "deleted" && c.New != none:
		return "a delete with a new"
	}
	return ""
}

// WrongUID checks that an object keeps its UID until it is deleted, as the typed API promises.
func (c Change[T]) WrongUID(known T) string {
	var none T
	switch {
	case c.Kind == "added" || known == none || c.Subject().GetUID() == known.GetUID():
		return ""
	case c.Kind == "updated":
		return "an update from one UID to another"
	}
	return "a delete of another UID"
}

// WrongFlags checks that only adds are initial, and only deletes are lost.
func (c Change[T]) WrongFlags() string {
	if c.Initial && c.Kind != "added" || c.Lost && c.Kind != "deleted" {
		return "a flag that does not belong there"
	}
	return ""
}
