package indexer

import (
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Requirements returns the requirements of a label selector, for [Indexer.Select]: an object matches
// the selector if its labels meet all of them. A nil selector has none, as labels.Everything has.
// Requirements returns false for a selector that matches nothing.
//
// A selector of a type that is not of package labels may have conditions beyond the requirements it
// shows: it becomes one requirement that calls its Matches. Safe for any goroutine.
func Requirements(s labels.Selector) (all []Requirement, some bool) {
	switch {
	case s == nil:
		return nil, true
	case labels.MatchesNothing(s):
		return nil, false
	}
	known, selectable := s.Requirements()
	if !selectable || !ofLabelsPackage(s) {
		return []Requirement{{Op: Other, Match: func(set map[string]string) bool { return s.Matches(labels.Set(set)) }}}, true
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

func requirementOf(r *labels.Requirement) Requirement {
	op := Other
	switch r.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		op = In
	case selection.NotIn, selection.NotEquals:
		op = NotIn
	case selection.Exists:
		op = Exists
	case selection.DoesNotExist:
		op = NotExists
	case selection.GreaterThan, selection.LessThan: // they compare numbers: Match decides
	}
	return Requirement{
		Key: r.Key(), Op: op, Values: r.ValuesUnsorted(),
		Match: func(set map[string]string) bool { return r.Matches(labels.Set(set)) },
	}
}
