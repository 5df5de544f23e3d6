package indexer

import (
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// requirementsOf returns the requirements of a label selector: an object matches the selector if its labels meet
// all of them. A nil selector has none, as labels.Everything has. requirementsOf returns false for a selector that
// matches nothing.
//
// A selector of a type that is not of package labels may have conditions beyond the requirements it
// shows: it becomes one requirement that calls its Matches.
func requirementsOf(s labels.Selector) (all []requirement, some bool) {
	switch {
	case s == nil:
		return nil, true
	case labels.MatchesNothing(s):
		return nil, false
	}
	known, selectable := s.Requirements()
	if !selectable || !ofLabelsPackage(s) {
		return []requirement{{op: opOther, match: func(set map[string]string) bool { return s.Matches(labels.Set(set)) }}}, true
	}
	for i := range known {
		all = append(all, requirementOf(&known[i]))
	}
	return all, true
}

func ofLabelsPackage(s labels.Selector) bool {
	switch reflect.TypeOf(s) {
	case reflect.TypeOf(labels.NewSelector()), reflect.TypeFor[labels.ValidatedSetSelector]():
		return true
	}
	return false
}

func requirementOf(r *labels.Requirement) requirement {
	op := opOther
	switch r.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		op = opIn
	case selection.NotIn, selection.NotEquals:
		op = opNotIn
	case selection.Exists:
		op = opExists
	case selection.DoesNotExist:
		op = opNotExists
	case selection.GreaterThan, selection.LessThan: // they compare numbers: match decides
	}
	return requirement{
		key: r.Key(), op: op, values: r.ValuesUnsorted(),
		match: func(set map[string]string) bool { return r.Matches(labels.Set(set)) },
	}
}
