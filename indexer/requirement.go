package indexer

import "slices"

// Op is the operator of a [Requirement], as in label selectors.
type Op uint8

// The operators.
const (
	// In: the label is there, with one of the values. It stands for = too.
	In Op = iota + 1
	// NotIn: the label is not there, or has none of the values. It stands for != too.
	NotIn
	// Exists: the label is there.
	Exists
	// NotExists: the label is not there.
	NotExists
	// Other: Match decides, on the whole set of labels.
	Other
)

// Requirement is one condition on an object's labels: what a label selector
// comes to. An object that meets all the requirements of a selector matches it.
type Requirement struct {
	Key    string
	Op     Op
	Values []string
	Match  func(labels map[string]string) bool // for Other only
}

// Matches tells whether a set of labels meets the requirement.
func (r *Requirement) Matches(labels map[string]string) bool {
	if r.Op == Other {
		return r.Match(labels)
	}
	value, ok := labels[r.Key]
	switch r.Op {
	case In:
		return ok && slices.Contains(r.Values, value)
	case NotIn:
		return !ok || !slices.Contains(r.Values, value)
	case Exists:
		return ok
	}
	return !ok
}

// values returns the values of the label that meet the requirement, each once,
// nil for any value. Not ok: labels that are not there meet it too, or nobody
// knows.
func (r *Requirement) values() (values []string, ok bool) {
	switch r.Op {
	case In:
		if len(r.Values) < 2 {
			return append([]string{}, r.Values...), true
		}
		return distinct(slices.Clone(r.Values)), true
	case Exists:
		return nil, true
	}
	return nil, false
}
