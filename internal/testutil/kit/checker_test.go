package kit

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

type podChange = Change[*corev1.Pod]

// Each change breaks one rule for a handler that knows only web-1@5.
func TestChecker_FindsWhatDoesNotFollow(t *testing.T) {
	known, next := Pod("web-1", "5"), Pod("web-1", "6")
	for _, tt := range []struct {
		problem string
		change  podChange
	}{
		{"no kind", podChange{New: next}},
		{"an add of a known object", podChange{Kind: "added", New: next}},
		{"an unknown object, but not an add", podChange{Kind: "deleted", Old: Pod("web-2", "6")}},
		{"an add with an old object", podChange{Kind: "added", Old: known, New: next}},
		{"an update whose old object is not the last one", podChange{Kind: "updated", Old: known.DeepCopy(), New: next}},
		{"a lost delete of an object that is not the last one", podChange{Kind: "deleted", Old: next, Lost: true}},
		{"a delete with a new object", podChange{Kind: "deleted", Old: known, New: next}},
		{"an update from one UID to another", podChange{Kind: "updated", Old: known, New: Pod("web-1", "6", UID("other"))}},
		{"a delete with another UID", podChange{Kind: "deleted", Old: Pod("web-1", "6", UID("other"))}},
		{"a flag that does not belong to this kind of event", podChange{Kind: "updated", Old: known, New: next, Initial: true}},
		{"a flag that does not belong to this kind of event", podChange{Kind: "deleted", Old: next, Initial: true}},
		{"a flag that does not belong to this kind of event", podChange{Kind: "added", New: Pod("web-2", "6"), Lost: true}},
		{"a version older than 5", podChange{Kind: "updated", Old: known, New: Pod("web-1", "4")}},
		{"a version that is not a number", podChange{Kind: "updated", Old: known, New: Pod("web-1", "six")}},
	} {
		t.Run(tt.problem, func(t *testing.T) {
			c := &Checker[*corev1.Pod]{Name: "h"}
			c.Check(podChange{Kind: "added", New: known})
			require.Empty(t, c.Problems())

			c.Check(tt.change)

			require.True(t, slices.ContainsFunc(c.Problems(), func(p string) bool {
				return strings.HasPrefix(p, "h: "+tt.problem)
			}), "%v", c.Problems())
		})
	}
}

// A source deletes an object that it has never sent. Merged with an add, the delete may be an update.
func TestChecker_DeletesOfTheUnknown(t *testing.T) {
	gone, lost := podChange{Kind: "deleted", Old: Pod("web-1", "5")}, podChange{Kind: "deleted", Old: Pod("web-1", "5"), Lost: true}
	update := podChange{Kind: "updated", Old: Pod("web-1", "5"), New: Pod("web-1", "6")}
	for _, tt := range []struct {
		checker *Checker[*corev1.Pod]
		change  podChange
		fits    bool
	}{
		{&Checker[*corev1.Pod]{}, gone, false},
		{&Checker[*corev1.Pod]{Unknown: true}, gone, true},
		{&Checker[*corev1.Pod]{Unknown: true}, lost, false},
		{&Checker[*corev1.Pod]{Unknown: true}, update, false},
		{&Checker[*corev1.Pod]{Unknown: true, Merged: true}, lost, true},
		{&Checker[*corev1.Pod]{Unknown: true, Merged: true}, update, true},
	} {
		tt.checker.Check(tt.change)
		require.Equal(t, tt.fits, len(tt.checker.Problems()) == 0, "%+v", tt.checker.Problems())
	}
}

func TestChecker_KnowsWhatTheHandlerGot(t *testing.T) {
	one, two, other := Pod("web-1", "5"), Pod("web-1", "6"), Pod("web-2", "3")
	c := &Checker[*corev1.Pod]{}
	h := c.Handler()

	h.OnAdd(one, true)
	h.OnAdd(other, false)
	h.OnUpdate(one, two)
	h.OnUpdate(two, two) // a resync
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/web-2", Obj: other})

	require.Empty(t, c.Problems())
	require.NoError(t, c.Differs(slices.Values([]*corev1.Pod{two})))
	require.EqualError(t, c.Differs(slices.Values([]*corev1.Pod{one})), ": default/web-1 is uid-web-1@5 in the store, but the handler knows uid-web-1@6")
	require.Error(t, c.Differs(slices.Values([]*corev1.Pod{two.DeepCopy()})), "a copy is another object")
	require.Error(t, c.Differs(slices.Values([]*corev1.Pod{two, other})))
	require.Error(t, c.Differs(slices.Values([]*corev1.Pod(nil))))
}

// Each field of a checker allows a change that is otherwise a problem.
func TestChecker_Allows(t *testing.T) {
	known := Pod("web-1", "5")
	for name, tt := range map[string]struct {
		checker *Checker[*corev1.Pod]
		change  podChange
	}{
		"merged":    {&Checker[*corev1.Pod]{Merged: true}, podChange{Kind: "deleted", Old: Pod("web-1", "6"), Lost: true}},
		"any order": {&Checker[*corev1.Pod]{AnyOrder: true}, podChange{Kind: "updated", Old: known, New: Pod("web-1", "4")}},
		"any UID":   {&Checker[*corev1.Pod]{AnyUID: true}, podChange{Kind: "deleted", Old: Pod("web-1", "6", UID("other"))}},
		"copies":    {&Checker[*corev1.Pod]{Copies: true}, podChange{Kind: "updated", Old: known.DeepCopy(), New: Pod("web-1", "6")}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.checker.Check(podChange{Kind: "added", New: known})
			tt.checker.Check(tt.change)
			require.Empty(t, tt.checker.Problems())
		})
	}
}
