package indexer

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// Select returns the objects of a namespace ("" for all) that match a label selector, at one
// moment, in no particular order. A nil selector matches everything, as labels.Everything does. The
// slice belongs to the caller, and is nil if there are no objects. Select leaves out objects of
// another type.
//
// Select starts from the shortest list that has all results (the namespace's, the lists for the
// values of one label, or the list of all objects) and filters it by the other conditions. After
// selectors have used a label key several times, the store builds an index of it, for each
// namespace if the selectors named one. It keeps a limited number of such indexes: those that
// selectors keep using and whose values are not almost unique.
func (x *Indexer[T]) Select(namespace string, selector labels.Selector) []T {
	requirements, some := requirementsOf(selector)
	if !some {
		return nil
	}
	result, _ := choose[T](&x.store, namespace, requirements)
	return result
}

// SelectChecked is [Indexer.Select] of a typed view. If a result is of another type, it returns the
// other results and [ErrType], with the key and both types.
func SelectChecked[T any](x *Indexer[any], namespace string, selector labels.Selector) ([]T, error) {
	requirements, some := requirementsOf(selector)
	if !some {
		return nil, nil
	}
	result, left := choose[T](&x.store, namespace, requirements)
	if len(left) == 0 {
		return result, nil
	}
	return result, leftOut[T](&x.store, left[0])
}

// leftOut returns the error for an object that is left out of a result. It searches the table for
// the key, because lists have no keys.
func leftOut[T any](x *store, stored any) error {
	obj := x.decode.object(stored)
	for r := range x.live.Load().records.all {
		if slotOf(r.value.stored()) == slotOf(stored) {
			return keyedTypeError[T](r.key(), obj)
		}
	}
	return typeError[T](obj) // it was deleted meanwhile
}

// choose returns the results of a query. If there are results of another type, left has the stored
// form of one of them.
func choose[T any](x *store, namespace string, requirements []requirement) (result []T, left []any) {
	if len(requirements) == 0 {
		if s, ok := x.namespaceSnapshot(namespace); ok {
			return joined[T](x, s)
		}
	}
	best := x.plan(namespace, requirements)
	snapshots, ok := x.snapshots(best)
	if !ok { // the label index was dropped meanwhile
		return choose[T](x, namespace, requirements)
	}
	if i := best.requirement; i >= 0 {
		requirements = slices.Delete(slices.Clone(requirements), i, i+1)
	}
	checked := namespace == "" || best.namespaced()
	if checked && len(requirements) == 0 {
		return joined[T](x, snapshots...)
	}
	return filter[T](x, snapshots, checked, namespace, requirements)
}

// namespaceSnapshot returns all objects of a namespace, or of the indexer if that is "". It
// returns false if there is no index by namespace.
func (x *store) namespaceSnapshot(namespace string) (Snapshot[any], bool) {
	if namespace == "" {
		return x.snapshotOf(func(c *contents) *vector { return c.all }), true
	}
	if x.live.Load().index(NamespaceIndex, named) == nil {
		return Snapshot[any]{}, false
	}
	return x.snapshotOf(func(c *contents) *vector { return c.index(NamespaceIndex, named).list("", namespace) }), true
}

// plan is the lists from which a query starts: those of some values of an index or, with a nil
// index, the list of all.
type plan struct {
	index       *index
	namespace   string
	values      []string // nil: all values of the index
	size        int
	requirement int // answered by the lists; -1 for none
}

// plan chooses the cheapest start of a query.
func (x *store) plan(namespace string, requirements []requirement) plan {
	best := plan{namespace: namespace, size: math.MaxInt, requirement: -1}
	if ix := x.live.Load().index(NamespaceIndex, named); ix != nil && namespace != "" {
		best.consider([]string{namespace}, ix, -1)
	}
	for i := range requirements {
		if ix, values := x.labelIndex(namespace, &requirements[i]); ix != nil {
			best.consider(values, ix, i)
		}
	}
	return best
}

// labelIndex returns an index that answers a requirement in a namespace ("" for all), and the
// values of its lists that do. Nil means all values. It returns no index if there is none yet.
func (x *store) labelIndex(namespace string, r *requirement) (ix *index, values []string) {
	values, ok := r.lists()
	switch {
	case !ok:
		return nil, nil
	case values == nil:
		if ix = x.writer.labelIndex(r.key, byLabel); ix.hasManyLists() {
			ix = nil
		}
		return ix, nil
	case namespace == "":
		return x.writer.labelIndex(r.key, byLabel), values
	}
	if ix = x.writer.labelIndex(r.key, byLabelIn); ix == nil {
		ix = x.live.Load().index(r.key, byLabel) // not asked for: the other will take its place
	}
	return ix, values
}

// namespaced reports whether the lists have objects of only one namespace.
func (p *plan) namespaced() bool {
	return p.index != nil && p.index.family != byLabel
}

// consider changes the plan to another start if that is shorter.
func (p *plan) consider(values []string, ix *index, requirement int) {
	size := 0
	if values == nil {
		for n := range ix.values.all {
			size += n.value.len()
		}
	}
	for _, value := range values {
		if v := ix.list(p.namespace, value); v != nil {
			size += v.len()
		}
	}
	if size < p.size {
		p.index, p.values, p.size, p.requirement = ix, values, size, requirement
	}
}

// filter returns the objects of the lists that meet the requirements and, unless checked, are
// in the namespace.
func filter[T any](x *store, lists []Snapshot[any], checked bool, namespace string, requirements []requirement) (result []T, left []any) {
	var met Snapshot[any] // with a codec: they are decoded as one list
	for _, s := range lists {
		for stored := range s.stored {
			if !checked && x.options.Namespace(stored) != namespace || !x.meets(stored, requirements) {
				continue
			}
			if x.decode != nil {
				met.add(stored)
			} else if t, ok := typed[T](stored); ok {
				result = append(result, t)
			} else {
				left = []any{stored}
			}
		}
	}
	if x.decode != nil {
		return joined[T](x, met)
	}
	return result, left
}

// joined returns all objects of the lists.
func joined[T any](x *store, lists ...Snapshot[any]) (result []T, left []any) {
	size := 0
	for _, s := range lists {
		size += s.Len()
	}
	if size == 0 {
		return nil, nil
	}
	result = make([]T, 0, size)
	decode := x.decoderFor(size)
	for i := range lists {
		result = appendTo(result, lists[i].at(nil, decode))
	}
	switch {
	case len(result) == size:
		return result, nil
	case len(result) == 0:
		result = nil
	}
	return result, otherType[T](x, lists)
}

// otherType returns the stored form of an object of another type, if there is one. Objects that
// cannot be decoded do not count.
func otherType[T any](x *store, lists []Snapshot[any]) []any {
	for _, s := range lists {
		for stored := range s.stored {
			obj := x.decode.object(stored)
			if _, ok := typed[T](obj); !ok && (obj != nil || x.decode == nil) {
				return []any{stored}
			}
		}
	}
	return nil
}

// meets reports whether the labels of an object in its stored form meet all requirements.
func (x *store) meets(stored any, requirements []requirement) bool {
	if len(requirements) == 0 {
		return true
	}
	set := x.options.Labels(stored)
	for i := range requirements {
		if !requirements[i].matches(set) {
			return false
		}
	}
	return true
}

// snapshots returns the lists of a plan at one moment. It returns false if the plan's index was
// dropped meanwhile.
func (x *store) snapshots(p plan) (lists []Snapshot[any], ok bool) {
	if p.index == nil {
		return []Snapshot[any]{x.snapshotOf(func(c *contents) *vector { return c.all })}, true
	}
	x.mu.Lock()
	defer x.mu.Unlock()

	ix := x.live.Load().index(p.index.Name, p.index.family)
	if ix == nil {
		return nil, false
	}
	for _, value := range p.values {
		if v := ix.list(p.namespace, value); v != nil {
			lists = append(lists, *v.snapshot())
		}
	}
	if p.values == nil {
		for n := range ix.values.all {
			lists = append(lists, *n.value.snapshot())
		}
	}
	return lists, true
}
