package indexer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
)

// foreign is a selector of a type that the indexer cannot know; its requirements tell less than it
// asks.
type foreign struct{ labels.Selector }

func (f foreign) Matches(l labels.Labels) bool {
	return f.Selector.Matches(l) && strings.Contains(l.Get("size"), "3")
}

// Requirements are met by the labels that the selector matches, and those that an index can answer
// have the operators In and Exists.
func TestRequirementsOfASelector(t *testing.T) {
	app := labels.Set{"app": "x"}
	for _, c := range []struct {
		selector labels.Selector
		ops      []operator
		nothing  bool
	}{
		{selector: nil},
		{selector: labels.Everything()},
		{selector: labels.Nothing(), nothing: true},
		{selector: app.AsSelector(), ops: []operator{opIn}},
		{selector: labels.ValidatedSetSelector{"app": "x", "size": "3"}, ops: []operator{opIn, opIn}},
		{selector: parsed(t, "app,!tier,app in (x,y),size notin (1),app!=y"), ops: []operator{opExists, opIn, opNotIn, opNotIn, opNotExists}},
		{selector: parsed(t, "size>2"), ops: []operator{opOther}},
		{selector: foreign{app.AsSelector()}, ops: []operator{opOther}},
	} {
		all, some := requirementsOf(c.selector)
		require.Equal(t, !c.nothing, some)
		var ops []operator
		for i := range all {
			ops = append(ops, all[i].op)
		}
		require.ElementsMatch(t, c.ops, ops, "%v", c.selector)
		for _, set := range []labels.Set{nil, app, {"app": "x", "size": "3"}, {"app": "y", "size": "1"}, {"app": "x", "tier": "db", "size": "30"}} {
			meets := some
			for i := range all {
				meets = meets && all[i].matches(set)
			}
			require.Equal(t, c.selector == nil || c.selector.Matches(set), meets, "%v of %v", c.selector, set)
		}
	}
}

func parsed(t testing.TB, text string) labels.Selector {
	t.Helper()
	s, err := labels.Parse(text)
	require.NoError(t, err)
	return s
}
