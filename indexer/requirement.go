package indexer

import "slices"

// Op is the operator of a [Requirement], as in label selectors.
type Op uint8

// The operators.
const (
	// In: the label exists and has one of the values. It stands for = too.
	In Op = iota + 1
	// NotIn: the label does not exist, or has none of the values. It stands for != too.
	NotIn
	// Exists: the label exists.
	Exists
	// NotExists: the label does not exist.
	NotExists
	// Other: Match decides, from the whole set of labels.
	Other
)

// Requirement is one condition of a label selector. An object matches a selector if its labels
// meet all its requirements.
type Requirement struct {
	Key    string
	Op     Op
	Values []string
	Match  func(labels map[string]string) bool // for Other only
}

// Matches reports whether a set of labels meets the requirement.
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

// values returns the distinct label values that meet the requirement, nil for any value. It
// returns false if an index of the label key cannot answer the requirement: objects without the
// label meet it too, or Match decides.
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
