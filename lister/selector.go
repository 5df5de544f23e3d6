package lister

import (
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// translate turns a label selector into requirements for the indexer. It returns false for a
// selector that matches nothing. A selector of an unknown type may have conditions beyond its
// requirements: it becomes one requirement that calls its Matches.
func translate(selector labels.Selector) (requirements []indexer.Requirement, some bool) {
	if labels.MatchesNothing(selector) {
		return nil, false
	}
	known, selectable := selector.Requirements()
	if !selectable || !ofLabelsPackage(selector) {
		return []indexer.Requirement{{Op: indexer.Other, Match: func(set map[string]string) bool {
			return selector.Matches(labels.Set(set))
		}}}, true
	}
	for i := range known {
		requirements = append(requirements, requirement(&known[i]))
	}
	return requirements, true
}

func ofLabelsPackage(selector labels.Selector) bool {
	switch reflect.TypeOf(selector) {
	case reflect.TypeOf(labels.NewSelector()), reflect.TypeFor[labels.ValidatedSetSelector]():
		return true
	}
	return false
}

func requirement(r *labels.Requirement) indexer.Requirement {
	op := indexer.Other
	switch r.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		op = indexer.In
	case selection.NotIn, selection.NotEquals:
		op = indexer.NotIn
	case selection.Exists:
		op = indexer.Exists
	case selection.DoesNotExist:
		op = indexer.NotExists
	case selection.GreaterThan, selection.LessThan: // they compare numbers: Match decides
	}
	return indexer.Requirement{
		Key: r.Key(), Op: op, Values: r.ValuesUnsorted(),
		Match: func(set map[string]string) bool { return r.Matches(labels.Set(set)) },
	}
}
