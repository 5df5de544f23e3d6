package kit

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Checker checks the changes that a handler gets. It keeps the objects that the handler knows, and
// records a problem for each change that contradicts them. The test sets the fields first. The zero
// value is for a handler that gets every event of one server.
type Checker[T Object] struct {
	Name     string // the prefix of each problem
	Merged   bool   // events may be merged before the handler gets them
	AnyOrder bool   // an object's version may go back, or may not be a number
	AnyUID   bool   // a source may delete an object with a UID that it has never sent
	Unknown  bool   // a source may delete an object that it has never sent
	Copies   bool   // objects with equal UIDs and versions are the same: each reader has its own copies

	mu       sync.Mutex
	known    map[types.NamespacedName]T
	newest   map[types.NamespacedName]uint64
	problems []string
}

// Check checks a change, records its problem, and updates the known objects.
func (c *Checker[T]) Check(change Change[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known, c.newest = map[types.NamespacedName]T{}, map[types.NamespacedName]uint64{}
	}
	k := nameOf(change.Subject())
	known := c.known[k]
	if c.same(change.Old, known) {
		change.Old = known
	}
	problems := []string{c.wrongUID(known, change), change.WrongFlags(), c.wrongOrder(k, change)}
	if !c.mayNotKnow(known, change) {
		problems = append(problems, change.WrongKind(known), change.WrongObjects(known, c.Merged))
	}
	for _, wrong := range problems {
		if wrong != "" {
			c.problems = append(c.problems, fmt.Sprintf("%s: %s: %s %v from %s to %s, knows %s",
				c.Name, wrong, change.Kind, k, identity(change.Old), identity(change.New), identity(known)))
		}
	}
	if c.known[k] = change.New; change.Kind == "deleted" {
		delete(c.known, k)
	}
}

// mayNotKnow reports whether a change may result from the delete of an object that the source has never
// sent.
func (c *Checker[T]) mayNotKnow(known T, change Change[T]) bool {
	var none T
	return c.Unknown && known == none && (change.Kind == "deleted" && !change.Lost || c.Merged && change.Kind != "added")
}

func (c *Checker[T]) wrongUID(known T, change Change[T]) string {
	if c.AnyUID {
		return ""
	}
	return change.WrongUID(known)
}

// wrongOrder checks that a version is not older than an earlier version of the same object.
func (c *Checker[T]) wrongOrder(k types.NamespacedName, change Change[T]) string {
	if c.AnyOrder {
		return ""
	}
	version, err := strconv.ParseUint(change.Subject().GetResourceVersion(), 10, 64)
	if err != nil {
		return "a version that is not a number"
	}
	before := c.newest[k]
	if c.newest[k] = max(before, version); version < before {
		return fmt.Sprintf("a version older than %d", before)
	}
	return ""
}

// Handler returns a handler of client-go's API whose calls are checked.
func (c *Checker[T]) Handler() cache.ResourceEventHandlerDetailedFuncs {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			c.Check(Change[T]{Kind: "added", New: obj.(T), Initial: initial})
		},
		UpdateFunc: func(old, obj any) { c.Check(Change[T]{Kind: "updated", Old: old.(T), New: obj.(T)}) },
		DeleteFunc: func(obj any) {
			tombstone, lost := obj.(cache.DeletedFinalStateUnknown)
			if lost {
				obj = tombstone.Obj
			}
			c.Check(Change[T]{Kind: "deleted", Old: obj.(T), Lost: lost})
		},
	}
}

// Problems returns the recorded problems.
func (c *Checker[T]) Problems() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.problems)
}

// Differs compares the objects that the handler knows with those in a store. It returns an error for the
// first difference.
func (c *Checker[T]) Differs(stored iter.Seq[T]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for obj := range stored {
		n++
		k := nameOf(obj)
		if known := c.known[k]; !c.same(obj, known) {
			return fmt.Errorf("%s: %v is %s in the store, but the handler knows %s", c.Name, k, identity(obj), identity(known))
		}
	}
	if n != len(c.known) {
		return fmt.Errorf("%s: the store has %d objects, but the handler knows %d", c.Name, n, len(c.known))
	}
	return nil
}

func (c *Checker[T]) same(a, b T) bool {
	var none T
	return a == b || c.Copies && a != none && b != none && identity(a) == identity(b)
}

func nameOf[T Object](obj T) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// identity returns the UID and version of an object.
func identity[T Object](obj T) string {
	var none T
	if obj == none {
		return "nothing"
	}
	return fmt.Sprintf("%s@%s", obj.GetUID(), obj.GetResourceVersion())
}
