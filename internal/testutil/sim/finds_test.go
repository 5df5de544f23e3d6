package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// In all worlds the store is asked for objects by compound queries, by owner, and by reference: after
// each step, and by handlers while the store changes.

// asked is a question to the store. selects decides the same for a single object.
type asked[T any] struct {
	queries []indexer.Query
	selects func(o T) bool
}

// ownedBy makes a ReplicaSet, named after the value of a label, the owner of an object.
func ownedBy(o metav1.Object, label string) {
	name := o.GetLabels()[label]
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: ownerOf(name).GetUID()}})
}

func ownerOf(name string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Name: name, UID: types.UID("rs-" + name)}
}

func owns(name string, o metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == ownerOf(name).UID })
}

// questions returns questions about a world's pods.
func (w *world) questions() []asked[*pod] {
	app := func(values ...string) labels.Selector {
		selector, err := labels.Parse(fmt.Sprintf("app in (%s)", strings.Join(values, ",")))
		if err != nil {
			panic(err)
		}
		return selector
	}
	node := func(n string, p *pod) bool { return slices.Contains(nodeOf(p), n) }
	onNode := map[string]string{"node": "n1"}
	return []asked[*pod]{
		{nil, func(*pod) bool { return false }},
		{[]indexer.Query{{Namespace: "a", Labels: app("x"), Fields: onNode}}, func(p *pod) bool { return p.Namespace == "a" && p.Labels["app"] == "x" && node("n1", p) }},
		{[]indexer.Query{{Labels: app("x", "y")}, {Fields: onNode}, {Namespace: "a"}}, func(p *pod) bool {
			return p.Namespace == "a" || p.Labels["app"] == "x" || p.Labels["app"] == "y" || node("n1", p)
		}},
		{[]indexer.Query{refs.OwnedBy(ownerOf("x"))}, func(p *pod) bool { return owns("x", p) }},
		{[]indexer.Query{refs.ReferringTo(refs.Ref{Kind: "Node", Name: "n2"})}, func(p *pod) bool { return p.Spec.NodeName == "n2" }},
	}
}

// foundWrong checks the answers to all questions.
func foundWrong(w *world) (problems []string) {
	all := w.all(w.informer)
	for _, q := range w.questions() {
		problems = append(problems, answerWrong(w.informer.Indexer(), all, q, keyOf, w.one, w.mutant.queryResult)...)
	}
	return problems
}

// answerWrong asks a store a question, and compares the answer with the objects that selects accepts.
func answerWrong[T comparable](x *indexer.Indexer[T], all []T, q asked[T], keyOf func(T) key, one func(T) T, seen func([]T) []T) (problems []string) {
	want, keys := map[T]bool{}, map[key]bool{}
	for _, o := range all {
		if q.selects(o) {
			want[o], keys[keyOf(o)] = true, true
		}
	}
	s, err := x.Find(q.queries...)
	if err != nil {
		return []string{err.Error()}
	}
	found, got := seen(s.List()), map[T]bool{}
	for _, o := range found {
		got[one(o)] = true
	}
	if !maps.Equal(got, want) || len(got) != len(found) {
		problems = append(problems, fmt.Sprintf("%v finds %d objects, %d of them different, want %d", q.queries, len(found), len(got), len(want)))
	}
	foundKeys, err := x.FindKeys(q.queries...)
	gotKeys := map[key]bool{}
	for _, k := range foundKeys {
		gotKeys[k] = true
	}
	if err != nil || !maps.Equal(gotKeys, keys) || len(foundKeys) != len(keys) {
		problems = append(problems, fmt.Sprintf("%v finds %d keys, want %d: %v", q.queries, len(foundKeys), len(keys), err))
	}
	return problems
}

// ask asks all questions while the store may change. An answer must contain each object once, and only
// objects that the question selects.
func (a *handler) ask() {
	for _, q := range a.w.questions() {
		s, err := a.of.Indexer().Find(q.queries...)
		if err != nil {
			a.w.fault("found", "%v asks: %v", a, err)
			return
		}
		found := map[*pod]bool{}
		for p := range s.All() {
			p = a.w.one(p)
			if found[p] || !q.selects(p) {
				a.w.fault("found", "%v finds %s by %v", a, spell(p), q.queries)
			}
			found[p] = true
		}
	}
}

// ownQuestions returns questions about the objects of a world of own writes.
func ownQuestions() (all []asked[any]) {
	zoneOf := func(o any) string { return o.(kit.APIObject).GetLabels()["zone"] }
	for z := range 3 {
		name, next := fmt.Sprint("z", z), fmt.Sprint("z", (z+1)%3)
		all = append(all,
			asked[any]{[]indexer.Query{{Fields: map[string]string{"zone": name}, Labels: labels.Set{"zone": next}.AsSelector()}}, func(any) bool { return false }},
			asked[any]{[]indexer.Query{{Fields: map[string]string{"zone": name}, Labels: labels.Set{"zone": name}.AsSelector()}}, func(o any) bool { return zoneOf(o) == name }},
			asked[any]{[]indexer.Query{{Labels: labels.Set{"zone": name}.AsSelector()}, {Namespace: "a"}}, func(o any) bool {
				return zoneOf(o) == name || o.(kit.APIObject).GetNamespace() == "a"
			}},
			asked[any]{[]indexer.Query{refs.OwnedBy(ownerOf(name))}, func(o any) bool { return owns(name, o.(kit.APIObject)) }},
		)
	}
	return all
}

// ownFoundWrong checks that own writes are found by their new labels, index values and owners, and not
// by older ones.
func ownFoundWrong(w *ownWorld) (problems []string) {
	var all []any
	for _, o := range w.stored() {
		all = append(all, o)
	}
	for _, q := range ownQuestions() {
		seen := func(found []any) []any {
			if w.mutant.findsOlder && len(found) > 1 {
				return found[1:]
			}
			return found
		}
		problems = append(problems, answerWrong(w.indexer, all, q, func(o any) key { return keyOfAny(o.(kit.APIObject)) }, w.oneOf, seen)...)
	}
	return problems
}
