package indexer

import "slices"

// operator is the operator of a requirement, as in label selectors.
type operator uint8

// The operators.
const (
	opIn        operator = iota + 1 // the label exists and has one of the values; for = too
	opNotIn                         // the label does not exist, or has none of the values; for != too
	opExists                        // the label exists
	opNotExists                     // the label does not exist
	opOther                         // match decides, from the whole set of labels
)

// requirement is a condition of a label selector. An object matches a selector if its labels meet
// all its requirements.
type requirement struct {
	key    string
	op     operator
	values []string
	match  func(labels map[string]string) bool // for opOther only
}

// matches reports whether a set of labels meets the requirement.
func (r *requirement) matches(labels map[string]string) bool {
	if r.op == opOther {
		return r.match(labels)
	}
	value, ok := labels[r.key]
	switch r.op {
	case opIn:
		return ok && slices.Contains(r.values, value)
	case opNotIn:
		return !ok || !slices.Contains(r.values, value)
	case opExists:
		return ok
	}
	return !ok
}

// lists returns the distinct label values that meet the requirement, or nil if all do. It returns
// false if an index of the label key cannot answer the requirement, because objects without the
// label also meet it, or because match decides.
func (r *requirement) lists() (values []string, ok bool) {
	switch r.op {
	case opIn:
		if len(r.values) < 2 {
			return append([]string{}, r.values...), true
		}
		return distinct(slices.Clone(r.values)), true
	case opExists:
		return nil, true
	}
	return nil, false
}
