package indexer

import (
	"math"
	"slices"
)

// Select returns the objects of a namespace ("" for all) whose labels meet all
// the requirements, as one moment had them, in no promised order; the slice is
// the caller's own, nil if there are none.
//
// It starts from the shortest list that is sure to hold them all: those of the
// namespace, or of the values of one requirement, or all; and filters that by
// the rest. The first time that a label key is required, the lists of its
// values are built, of each namespace where one is asked for; they are kept from
// then on, for a bounded number of keys that are not almost unique.
//
// An object of another type is left out.
func (x *Indexer[T]) Select(namespace string, requirements ...Requirement) []T {
	result, _ := x.choose(namespace, requirements)
	return result
}

// SelectChecked is [Indexer.Select], but where an object of another type is among
// the results: it returns [ErrType] then, with the key and both types, beside the
// others.
func (x *Indexer[T]) SelectChecked(namespace string, requirements ...Requirement) ([]T, error) {
	result, left := x.choose(namespace, requirements)
	if len(left) == 0 {
		return result, nil
	}
	return result, x.leftOut(left[0])
}

// leftOut says which object was left out of a result. Its key is looked for, since
// lists do not know it.
func (x *Indexer[T]) leftOut(stored any) error {
	obj := x.decode.Object(stored)
	for r := range x.live.Load().records.all {
		if slotOf(r.value.stored()) == slotOf(stored) {
			return keyedTypeError[T](r.key(), obj)
		}
	}
	return typeError[T](obj) // it is gone by now
}

// choose returns the objects of a query, and, apart and as it is stored, one that is
// of another type, if there are any.
func (x *Indexer[T]) choose(namespace string, requirements []Requirement) (result []T, left []any) {
	best := x.plan(namespace, requirements)
	snapshots, ok := x.freeze(best)
	if !ok { // the posting lists were given up just now
		return x.choose(namespace, requirements)
	}
	if i := best.requirement; i >= 0 {
		requirements = slices.Delete(slices.Clone(requirements), i, i+1)
	}
	checked := namespace == "" || best.namespaced()
	if checked && len(requirements) == 0 {
		return joined[T](snapshots)
	}
	return x.filter(snapshots, checked, namespace, requirements)
}

// plan says which lists a query starts from: those of some values of one
// index, or, with a nil index, the list of all.
type plan struct {
	index       *index
	namespace   string
	values      []string // nil: all values of the index
	size        int
	requirement int // the one that the lists answer, or -1
}

// plan finds the best start of a query.
func (x *store) plan(namespace string, requirements []Requirement) plan {
	best := plan{namespace: namespace, size: math.MaxInt, requirement: -1}
	if ix := x.live.Load().index(NamespaceIndex, named); ix != nil && namespace != "" {
		best.consider([]string{namespace}, ix, -1)
	}
	for i := range requirements {
		r := &requirements[i]
		values, ok := r.values()
		if !ok {
			continue
		}
		f := byLabel
		if namespace != "" && values != nil {
			f = byLabelIn
		}
		if ix := x.writer.labelIndex(r.Key, f); ix != nil {
			best.consider(values, ix, i)
		}
	}
	return best
}

// namespaced tells whether the lists hold nothing of other namespaces.
func (p *plan) namespaced() bool {
	return p.index != nil && p.index.family != byLabel
}

// consider takes up a better start.
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

// filter returns what the lists hold of a namespace, unless that is checked,
// and of the requirements.
func (x *Indexer[T]) filter(lists []Snapshot[any], checked bool, namespace string, requirements []Requirement) (result []T, left []any) {
	for _, s := range lists {
		for stored := range s.stored {
			obj := s.decode.Object(stored)
			if !checked && x.options.Namespace(obj) != namespace || !x.meets(obj, requirements) {
				continue
			}
			if t, ok := typed[T](obj); ok {
				result = append(result, t)
			} else {
				left = []any{stored}
			}
		}
	}
	return result, left
}

// joined returns what lists hold.
func joined[T any](lists []Snapshot[any]) (result []T, left []any) {
	size := 0
	for _, s := range lists {
		size += s.Len()
	}
	if size == 0 {
		return nil, nil
	}
	result = make([]T, 0, size)
	for _, s := range lists {
		result = Snapshot[T](s).AppendTo(result)
	}
	switch {
	case len(result) == size:
		return result, nil
	case len(result) == 0:
		result = nil
	}
	return result, stranger[T](lists)
}

// stranger returns one object of another type, as it is stored.
func stranger[T any](lists []Snapshot[any]) []any {
	for _, s := range lists {
		for stored := range s.stored {
			if _, ok := typed[T](s.decode.Object(stored)); !ok {
				return []any{stored}
			}
		}
	}
	return nil
}

func (x *store) meets(obj any, requirements []Requirement) bool {
	if len(requirements) == 0 {
		return true
	}
	labels := x.options.Labels(obj)
	for i := range requirements {
		if !requirements[i].Matches(labels) {
			return false
		}
	}
	return true
}

// freeze returns the lists of a plan as they are at one moment. It fails where
// the plan's index has been given up since.
func (x *store) freeze(p plan) (lists []Snapshot[any], ok bool) {
	if p.index == nil {
		return []Snapshot[any]{x.frozen(func(c *contents) *vector { return c.all })}, true
	}
	x.mu.Lock()
	defer x.mu.Unlock()

	ix := x.live.Load().index(p.index.Name, p.index.family)
	if ix == nil || ix.disabled() {
		return nil, false
	}
	for _, value := range p.values {
		if v := ix.list(p.namespace, value); v != nil {
			lists = append(lists, v.freeze().at(nil, x.decode))
		}
	}
	if p.values == nil {
		for n := range ix.values.all {
			lists = append(lists, n.value.freeze().at(nil, x.decode))
		}
	}
	return lists, true
}
